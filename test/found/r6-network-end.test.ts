import { expect, it } from 'vitest';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { type Child, ISTHMUS, startChild } from '../support/child.js';
import { eventually } from '../support/until.js';
import { notesFile, staying, stopwatch } from './support-ends.js';

/** `isthmus serve` at a free port, with a call that never ends. */
async function busy(...options: string[]) {
  const notes = notesFile();
  process.env['XDG_RUNTIME_DIR'] = freshFolder();
  const args = ['serve', '--port', '0', '--json', '-q', ...options, '--', ...staying(notes.file)];
  const child = startChild(ISTHMUS, { args });
  const [told] = await child.first(1);
  const [url] = (told as unknown as { addresses: [string] }).addresses;
  const answer = ask(url, modernCall(1, 'wait', {}));
  answer.catch(() => {});
  await eventually(() => expect(notes.read()).toEqual(['call']));
  return { child, notes, answer, url };
}

/** From the signal to the exit. */
async function ends(child: Child): Promise<number> {
  const ms = stopwatch();
  child.kill('SIGTERM');
  const { code, signal: killedBy } = await child.exit();
  // 143, 130: the machine was so busy that the last moment came.
  expect([killedBy, [0, 130, 143].includes(code!)]).toEqual([null, true]);
  return ms();
}

it('R6: a busy network listener is gone within 5 s of SIGTERM, and its caller and its server are told', async () => {
  const { child, notes, answer } = await busy();
  expect(await ends(child)).toBeLessThan(5000);
  expect((await answer).json.error).toEqual({
    code: -32603,
    message: 'The server stopped before this request was finished',
  });
  expect(notes.read()).toEqual(['call', 'cancelled', 'end', 'SIGTERM']);
});

it('R6: --grace changes how long that is', async () => {
  const { child, notes } = await busy('--grace', '100');
  expect(await ends(child)).toBeLessThan(2200);
  expect(notes.read()).toEqual(['call', 'cancelled', 'end', 'SIGTERM']);
});

it('R6: with a long --grace calls go on, and a second signal ends it at once', async () => {
  const { child, url } = await busy('--grace', '60000');
  child.kill('SIGTERM');
  await eventually(async () => {
    await expect(ask(url, modernCall(2, 'echo', { text: 'x' }))).rejects.toThrow('ECONNREFUSED');
  });
  const ms = stopwatch();
  child.kill('SIGTERM');
  expect(await child.exit()).toEqual({ code: 143, signal: null });
  expect(ms()).toBeLessThan(1000);
});

it('R6: demo on a network address is gone within 5 s of SIGTERM', async () => {
  const child = startChild(ISTHMUS, { args: ['demo', '--listen', 'http://127.0.0.1:0/mcp'] });
  await child.until('the address', () => /http:\/\/\S+/.test(child.stderr));
  const url = /http:\/\/\S+/.exec(child.stderr)![0];
  const answer = ask(url, modernCall(1, 'sleep', { ms: 60_000 }));
  await eventually(async () => {
    expect((await ask(url, modernCall(2, 'echo', { text: 'x' }))).status).toBe(200);
  });
  expect(await ends(child)).toBeLessThan(5000);
  expect((await answer).json.error?.code).toBe(-32603);
});
