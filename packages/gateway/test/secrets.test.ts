import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../test/support/until.js';
import { ask, modern, modernCall } from '../../sdk/test/support/http-server.js';
import { runGateway } from '../src/run-gateway.js';
import type { GatewayServerSpec } from '../src/server-definition.js';
import { createLog } from '../src/telemetry/log.js';
import { createRedactor } from '../src/telemetry/redactor.js';
import { commandUnit, urlUnit } from './support/server-definitions.js';
import { openFar, withTools } from './support/upstream.js';

const SECRETS = {
  env: 'env-s3cr3t-of-the-weather',
  blob: 'QmFzZTY0LWxvb2tpbmctdmFsdWUtMDEyMzQ1Njc4OQ==',
  header: 'header-s3cr3t-of-the-issues',
  query: 'query-s3cr3t-of-the-search',
  path: 'NTc4MjM0OTg3MjM0OTg3MjM0OTg3MjM0',
};
const TELLS = `console.error('I was given ' + process.env.WEATHER_API_KEY + ' and ' + process.env.BLOB); process.exit(7)`;

const UNITS: readonly GatewayServerSpec[] = [
  commandUnit('dies', ['-e', TELLS], {
    env: { WEATHER_API_KEY: SECRETS.env, BLOB: SECRETS.blob },
    restart: false,
  }),
  commandUnit('lives', ['-e', `console.error(process.env.WEATHER_API_KEY); setInterval(() => {}, 1000)`], {
    env: { WEATHER_API_KEY: SECRETS.env },
    connectTimeoutMs: 300,
    silenceMs: 100,
    bootMs: 200,
    restart: false,
  }),
  urlUnit('issues', 'http://127.0.0.1:1/mcp', { headers: { authorization: `Bearer ${SECRETS.header}` } }),
  urlUnit('search', `http://127.0.0.1:1/mcp?x=${SECRETS.query}`),
  urlUnit('files', `http://127.0.0.1:1/${SECRETS.path}/mcp`),
];

/** A gateway with all that goes with it, whose log is kept. */
async function operated(tellsStderr: boolean) {
  const lines: string[] = [];
  const redactor = createRedactor();
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'trace', format: 'json', redactor, destination });
  const good = await openFar(withTools('one'));
  const operation = await runGateway({
    units: [...UNITS, good.unit('good')],
    addresses: ['http://127.0.0.1:0/mcp'],
    host: { ledger: false, cache: false },
    patienceMs: 20_000,
    log,
    redactor,
    tellsStderr,
  });
  onTestFinished(() => operation.close({ graceMs: 0 }));
  const { gateway } = operation;
  for (const name of gateway.names)
    await gateway
      .unit(name)
      .start()
      .catch(() => {});
  const url = gateway.addresses[0]!;
  return { gateway, lines, url, origin: new URL(url).origin };
}

describe.each([false, true])('what nobody may read (clients are told of stderr: %s)', (tellsStderr) => {
  it('is not in the pages, the log, the lists and the errors', async () => {
    const { gateway, lines, url, origin } = await operated(tellsStderr);
    const shown: Record<string, string> = {};
    for (const page of ['/status', '/metrics', '/readyz']) {
      shown[page] = (await ask(`${origin}${page}`, { method: 'GET' })).text;
    }
    const status = await gateway.status();
    shown['status()'] = JSON.stringify(status);
    for (const name of ['dies', 'lives', 'issues', 'search', 'files']) {
      expect(status.servers[name], name).toMatchObject({ state: 'failed', reason: expect.any(String) });
      shown[`call ${name}`] = (await ask(url, modernCall(1, `${name}__x`))).text;
      shown[`own ${name}`] = (await ask(`${origin}/mcp/${name}`, modern(1, 'server/discover'))).text;
    }
    const list = await ask(url, modern(1, 'tools/list'));
    shown['list'] = list.text;
    expect(list.json.result._meta['isthmus/absent']).toHaveLength(5);
    await eventually(() => expect(lines.join('')).toContain('I was given'));
    shown['log'] = lines.join('');
    for (const [place, text] of Object.entries(shown)) {
      for (const [kind, secret] of Object.entries(SECRETS)) {
        expect(text.includes(secret), `${kind} in ${place}: ${text.slice(0, 2000)}`).toBe(false);
      }
    }
  });
});

it('the status has no environment, no headers and no arguments of a server', async () => {
  const { gateway } = await operated(false);
  const text = JSON.stringify(await gateway.status());
  for (const word of ['WEATHER_API_KEY', 'authorization', 'process.env', '-e'])
    expect(text).not.toContain(word);
});
