import { once } from 'node:events';
import { createServer as createHttpServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, createServer, http, serve } from '../../../src/index.js';

/** The answer of a client to a question is a POST of its own, and may meet a balancer whose server has just died. */
describe('an answer to a question of a legacy server', () => {
  it.each([
    ['a balancer refuses it with 502', 502],
    ['the connection breaks', 'break'],
  ] as const)('is sent again when %s', async (_, fault) => {
    const { url, refused } = await behindBalancer(3, fault);
    const client = await connect(http(url), { mode: 'legacy', answers: { elicit: () => ANSWER } });
    onTestFinished(() => client.close());
    expect((await client.callTool('ask')).content).toEqual([{ type: 'text', text: 'Ada' }]);
    expect(refused()).toBe(3);
  });

  it('is asked for, although the end of the handshake was refused at first (INIT-006)', async () => {
    const { url, refused } = await behindBalancer(3, 502, 'notifications/initialized');
    const client = await connect(http(url), { mode: 'legacy', answers: { elicit: () => ANSWER } });
    onTestFinished(() => client.close());
    expect((await client.callTool('ask')).content).toEqual([{ type: 'text', text: 'Ada' }]);
    expect(refused()).toBe(3);
  });

  it('is not sent for ever', async () => {
    const { url, refused } = await behindBalancer(100, 502);
    const warnings: string[] = [];
    const client = await connect(http(url, { onWarning: (warning) => warnings.push(warning) }), {
      mode: 'legacy',
      timeoutMs: 3000,
      answers: { elicit: () => ANSWER },
    });
    onTestFinished(() => client.close());
    await expect(client.callTool('ask')).rejects.toMatchObject({ code: 'TIMED_OUT' });
    expect(refused()).toBe(4);
    expect(warnings).toEqual([expect.stringContaining('a message was not accepted')]);
  });
});

const ANSWER = { action: 'accept', content: { name: 'Ada' } } as const;

/** A server behind a proxy that fails with the first answers of the client, or with other messages. */
async function behindBalancer(count: number, fault: 502 | 'break', what = '"result"') {
  const server = createServer({ name: 'asking', version: '1' });
  server.tool('ask', {}, async (_args, ctx) => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
    return String((await ctx.elicit({ message: 'Who?', requestedSchema })).content?.['name']);
  });
  const served = await serve(server, http({ port: 0 }));
  onTestFinished(() => served.close({ graceMs: 0 }));
  const to = new URL(served.addresses[0]!);
  let refused = 0;
  const proxy = createHttpServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (body.includes(what) && refused < count) {
      refused += 1;
      if (fault === 'break') return outgoing.destroy();
      return outgoing.writeHead(502).end('<h1>Bad Gateway</h1>');
    }
    const { method, headers } = incoming;
    const onward = request({ port: to.port, path: to.pathname, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(body);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${to.pathname}`, refused: () => refused };
}
