import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { type Child, fixture, ISTHMUS, startChild } from '../support/child.js';

const key = () => randomBytes(32).toString('base64url');

/** A file with keys, one a line. */
function keyFile(...keys: string[]): string {
  const file = join(freshFolder(), 'keys');
  writeFileSync(file, `# the first seals\n${keys.join('\n')}\n`, { mode: 0o600 });
  return file;
}

interface Replica {
  readonly child: Child;
  readonly url: string;
}

async function replica(options: string[], command: string[] = [], env?: string): Promise<Replica> {
  if (env !== undefined) process.env['ISTHMUS_STATE_KEY'] = env;
  const child = startChild(ISTHMUS, {
    args: [
      'serve',
      '--port',
      '0',
      '--json',
      '-q',
      ...options,
      ...(command.length > 0 ? ['--', ...command] : []),
    ],
  });
  delete process.env['ISTHMUS_STATE_KEY'];
  const [told] = await child.first(1);
  return { child, url: (told as unknown as { addresses: [string] }).addresses[0] };
}

const capabilities = { elicitation: { form: {} } };

/** The first round of a call. */
async function begin({ url }: Replica, tool: string, args: object = {}) {
  const { json } = await ask(url, modernCall(1, tool, args, { capabilities }));
  const { inputRequests, requestState } = json.result as {
    inputRequests: Record<string, unknown>;
    requestState: string;
  };
  const answer = { action: 'accept', content: { ok: true, confirmed: true, confirm: true, name: 'Ada' } };
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((name) => [name, answer]));
  return { requestState, inputResponses };
}

/** The second round, at whichever replica. */
async function goOn({ url }: Replica, tool: string, round: object, args: object = {}) {
  return (await ask(url, modernCall(2, tool, args, { capabilities, params: round }))).json;
}

const STATE = 'test_input_required_result_request_state';
const BAD = 'requestState was altered, has expired or belongs to another request';

it('P5: two replicas with the same key accept the state of each other, from a file and from the environment', async () => {
  const shared = key();
  const [one, two] = await Promise.all([replica(['--state-key', keyFile(shared)]), replica([], [], shared)]);
  const json = await goOn(two, STATE, await begin(one, STATE));
  expect(json.result?.content).toEqual([{ type: 'text', text: 'state-ok' }]);
});

it('P5: without a shared key, and with another one, they do not', async () => {
  const [one, two, three] = await Promise.all([
    replica([]),
    replica([]),
    replica(['--state-key', keyFile(key())]),
  ]);
  const round = await begin(one, STATE);
  expect((await goOn(two, STATE, round)).error?.message).toBe(BAD);
  expect((await goOn(three, STATE, round)).error?.message).toBe(BAD);
});

it('P5: keys are replaced one after the other: the first seals, all open, and a dropped one does not', async () => {
  const [old, fresh] = [key(), key()];
  const [before, between, after] = await Promise.all([
    replica(['--state-key', keyFile(old)]),
    replica(['--state-key', keyFile(fresh, old)]),
    replica(['--state-key', keyFile(fresh)]),
  ]);
  const ok = [{ type: 'text', text: 'state-ok' }];
  expect((await goOn(between, STATE, await begin(before, STATE))).result?.content).toEqual(ok);
  expect((await goOn(after, STATE, await begin(between, STATE))).result?.content).toEqual(ok);
  expect((await goOn(after, STATE, await begin(before, STATE))).error?.message).toBe(BAD);
});

it('P5: a call of a legacy server that waits in one replica cannot be gone on with in another, and the error says so', async () => {
  const file = keyFile(key());
  const command = [process.execPath, fixture('server-asks-whoever-calls.mjs')];
  const [one, two] = await Promise.all([
    replica(['--state-key', file], command),
    replica(['--state-key', file], command),
  ]);
  const round = await begin(one, 'elicit', { text: 'x' });
  expect((await goOn(two, 'elicit', round, { text: 'x' })).error).toEqual({
    code: -32602,
    message:
      'requestState belongs to a call that waits in another process, or in one that has ended, and only that process can continue it: send all rounds of a call to the same replica, or make the call again',
  });
  expect((await goOn(one, 'elicit', round, { text: 'x' })).error).toBeUndefined();
});

it('P5: a key on the command line is refused and not shown', async () => {
  const secret = key();
  const child = startChild(ISTHMUS, { args: ['serve', '--port', '0', '--state-key', secret] });
  expect((await child.exit()).code).toBe(2);
  expect(child.stderr).toContain('--state-key takes the path of a file, and this is a key');
  expect(child.stderr).not.toContain(secret);
});

it.each(['--state-key', '--bearer-file'])(
  'P5: a secret in another form that is given to %s instead of a path is not shown',
  async (option) => {
    const secret = randomBytes(32).toString('hex');
    for (const given of [
      secret,
      `${secret.slice(0, 30)}/${secret.slice(30)}`,
      `${secret}${'0'.repeat(300)}`,
    ]) {
      const child = startChild(ISTHMUS, { args: ['serve', '--port', '0', option, given] });
      expect((await child.exit()).code).toBe(2);
      expect(child.stderr).toMatch(/cannot be read: (there is no such file|ENAMETOOLONG: )/);
      expect(child.stderr).not.toContain(secret.slice(0, 30));
    }
  },
);

it.each([
  ['too-short', 'holds something that is not a key (number 1)'],
  ['# nothing else', 'holds no key'],
])('P5: a file with %j is refused, and what is in it is not shown', async (text, why) => {
  const file = join(freshFolder(), 'keys');
  writeFileSync(file, text);
  const child = startChild(ISTHMUS, { args: ['serve', '--port', '0', '--state-key', file] });
  expect((await child.exit()).code).toBe(2);
  expect(child.stderr).toContain(why);
  expect(child.stderr).not.toContain(text);
});

it.runIf(process.platform === 'linux')(
  'P5: a server that is started gets no key, whatever else it is passed',
  async () => {
    const secret = key();
    const command = [process.execPath, ISTHMUS, 'demo'];
    const { child } = await replica(['--pass-environment'], command, secret);
    const { childrenOf } = await import('../../packages/sdk/test/support/host-lifetime.js');
    const [first, ...rest] = childrenOf(child.pid);
    for (const pid of [first!, ...rest]) {
      expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).not.toContain(secret);
    }
  },
);
