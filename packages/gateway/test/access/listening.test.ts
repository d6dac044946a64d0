import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Ask, modern, open, openSession } from '../../../sdk/test/support/http-server.js';
import { freshFolder } from '../support/open-gateway.js';
import { as, byWrittenToken, scopedHouse, withHints } from '../support/scoped-tokens.js';
import { type House, openHouse } from '../support/secured-gateway.js';
import { openFar } from '../support/upstream.js';

const TOOLS_ONLY = {
  default: 'deny',
  rules: [{ effect: 'allow', tools: ['read_*'], scopes: ['mcp:read'] }],
} as const;
const ALL = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['memo://1'],
};

/** What the server of a path has agreed to report. */
async function honoured(house: House, path: string, token: string, wanted: object): Promise<unknown> {
  const request: Ask = modern('l', 'subscriptions/listen', { notifications: wanted }, as(token));
  const stream = await open(house.at(path), request);
  await stream.until('the acknowledgement', () => stream.text.includes('subscriptions/acknowledged'));
  return JSON.parse(/data: (.*)/.exec(stream.text)![1]!).params.notifications;
}

describe('a caller that may only use tools', () => {
  it('hears of tools, and not of resources or prompts', async () => {
    const house = await scopedHouse(TOOLS_ONLY);
    expect(await honoured(house, '/mcp/files', 'ada/mcp:read', ALL)).toEqual({ toolsListChanged: true });
  });

  it('hears the same at the address of all, and nothing without the scope of the rule', async () => {
    const far = await openFar(withHints, { name: 'files' });
    const mail = await openFar(withHints, { name: 'mail' });
    const units = [far.unit('files', { stateless: true }), mail.unit('mail', { stateless: true })];
    const house = await openHouse(units, { access: TOOLS_ONLY, endpoint: { authenticate: byWrittenToken } });
    const listen = async (token: string) => {
      const request: Ask = modern('l', 'subscriptions/listen', { notifications: ALL }, as(token));
      const stream = await open(house.at('/mcp'), request);
      await stream.until('the acknowledgement', () => stream.text.includes('subscriptions/acknowledged'));
      return stream;
    };
    const [heard, closed] = [await listen('ada/mcp:read'), await listen('ada/')];
    far.server.prompt('another', {}, () => 'Hello');
    far.server.tool('read_two', {}, () => 'read');
    await heard.until('a change', () => heard.text.includes('tools/list_changed'));
    expect(heard.text).not.toContain('prompts/list_changed');
    expect(closed.text).not.toContain('list_changed');
  });

  it('is in the audit log with its client when it subscribes', async () => {
    const file = join(freshFolder(), 'audit.jsonl');
    const house = await scopedHouse(TOOLS_ONLY, { audit: { file } });
    for (const path of ['/mcp/files', '/mcp']) await honoured(house, path, 'ada/mcp:read', ALL);
    await house.operation.close();
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const begun = lines.map((line) => JSON.parse(line)).filter(({ method }) => method.endsWith('/listen'));
    expect(begun.map(({ server, clientId }) => [server, clientId])).toEqual([
      ...[
        ['files', 'app-of-ada'],
        ['files', 'app-of-ada'],
        ['mail', 'app-of-ada'],
      ],
    ]);
  });

  it('cannot subscribe to a resource in a session of the legacy era, and that is written down', async () => {
    const file = join(freshFolder(), 'audit.jsonl');
    const house = await scopedHouse(TOOLS_ONLY, { audit: { file } });
    for (const path of ['/mcp/files', '/mcp']) {
      const session = await openSession(house.at(path), as('ada/mcp:read'));
      const params = { uri: 'memo://1' };
      const { json } = await session.post({
        ...{ jsonrpc: '2.0', id: 7, method: 'resources/subscribe', params },
      });
      expect(json.error).toMatchObject({ code: -32603, data: { reason: 'DENIED' } });
    }
    await house.operation.close();
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const subscriptions = lines.map((line) => JSON.parse(line)).filter(({ uri }) => uri === 'memo://1');
    expect(subscriptions[0]).toMatchObject({
      principal: 'jwt:https://login.example|ada',
      clientId: 'app-of-ada',
      method: 'resources/subscribe',
      outcome: 'denied',
    });
  });
});
