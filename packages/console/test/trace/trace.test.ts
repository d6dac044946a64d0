import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, memory, stdio } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTrace } from '../../src/inspect/open-trace.js';
import { recordTrace } from '../../src/trace/trace-recorder.js';
import { ConsoleClient } from '../support/console-client.js';
import { inspect } from '../support/inspected.js';

const redactor = {
  text: (text: string) => text.replaceAll('hush', '[redacted]'),
  json: (line: string) => line.replaceAll('hush', '[redacted]'),
};

async function fileNamed(name: string): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'isthmus-trace-')), name);
}

async function open(file: string) {
  const said: string[] = [];
  const console = await openTrace({ file, redactor, judge: async () => [], say: (line) => said.push(line) });
  onTestFinished(() => console.close());
  return { client: await ConsoleClient.enter(console.link()), said };
}

function server() {
  const made = createServer({ name: 'traced', version: '1.0.0' });
  made.tool('tell', {}, () => 'the word is hush');
  return made;
}

describe('a trace file', () => {
  it('is saved without secrets, and opens without the server', async () => {
    const { client } = await inspect((tap) => {
      const link = memory(server(), {}, { tap });
      return link;
    });
    await client.ask('GET lists/:what', { path: ['tools'] });
    const call = await client.call('tools/call', '{"name":"tell","arguments":{}}');
    expect(call.result).toContain('hush');
    const preview = await client.ask('POST traces', { body: { dry: true } });
    expect(preview).toMatchObject({ findings: [{ what: 'replaced' }] });
    const saved = await client.send('POST traces', { body: {} });
    expect(saved.headers.get('content-disposition')).toBe('attachment; filename="isthmus.mcptrace"');
    const file = await fileNamed('saved.mcptrace');
    const text = await saved.text();
    expect(text).not.toContain('hush');
    await writeFile(file, text);

    const opened = await open(file);
    const hello = await opened.client.ask('GET hello');
    expect(hello).toMatchObject({ readOnly: true, target: { kind: 'trace', file: { redacted: true } } });
    const { calls } = await opened.client.ask('GET calls');
    expect(calls).toMatchObject([{ id: call.id, tool: 'tell', outcome: 'ok', state: 'done' }]);
    const detail = await opened.client.ask('GET calls/:id', { path: [call.id] });
    expect(detail.frames).toHaveLength(2);
    expect(detail.result).toContain('the word is [redacted]');
    const tools = await opened.client.ask('GET lists/:what', { path: ['tools'] });
    expect(tools.items.map(({ name }) => name)).toEqual(['tell']);
    const body = { method: 'tools/call', params: '{"name":"tell"}' };
    const sent = await opened.client.send('POST calls', { body });
    expect([sent.status, await sent.json()]).toMatchObject([409, { error: { code: 'READ_ONLY' } }]);
  });

  it('is written while frames come, and has all of them after the end', async () => {
    const file = await fileNamed('recorded.mcptrace');
    const { console, client } = await inspect((tap) => memory(server(), {}, { tap }));
    const options = { path: file, target: { label: 'traced', kind: 'command' }, redactor } as const;
    const recording = await recordTrace(console.records, { ...options, onStopped: () => {} });
    await client.call('tools/call', '{"name":"tell","arguments":{}}');
    await recording.close();
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const seqs = lines.map((line) => (JSON.parse(line) as { seq?: number }).seq).filter(Boolean);
    expect(seqs).toEqual(Array.from({ length: console.records.ring.last }, (_, at) => at + 1));
    expect(lines.join('')).not.toContain('hush');
    // What is there already is not overwritten.
    await expect(recordTrace(console.records, { ...options, onStopped: () => {} })).rejects.toThrow('EEXIST');
  });

  it('of another kind or a newer version is refused with a sentence', async () => {
    const other = await fileNamed('other.mcptrace');
    await writeFile(other, '{"log":1}\n');
    await expect(open(other)).rejects.toThrow('is not a trace file');
    const newer = await fileNamed('newer.mcptrace');
    await writeFile(newer, '{"trace":2}\n');
    await expect(open(newer)).rejects.toThrow('of version 2, and this isthmus reads version 1');
  });

  it('with broken and hostile lines opens with what is valid in it', async () => {
    const file = await fileNamed('hostile.mcptrace');
    const lines = [
      '{"trace":1,"isthmus":"<b>","savedAt":"never","began":"x","target":{"label":7}}',
      'not json',
      '{"seq":-1,"kind":"request"}',
      '{"seq":5,"kind":"evil","direction":"to-server","text":"x"}',
      '{"connection":{"id":1,"verdict":{"steps":"none"},"frames":7,"warnings":{}}}',
      '{"call":{"id":3,"state":"running","method":"tools/call"}}',
      '{"seq":9,"kind":"request","direction":"to-server","text":"{}","call":3,"http":{"headers":[[1],["a","b"]]}}',
      '{"__proto__":{"polluted":true},"seq":10,"kind":"note","direction":"to-client","text":"hi"}',
    ];
    await writeFile(file, lines.join('\n'));
    const { client, said } = await open(file);
    expect(said).toEqual([`3 lines of ${file} are not valid, and are left out`]);
    expect((await client.ask('GET frames')).rows).toHaveLength(2);
    expect(await client.ask('GET connections')).toMatchObject([
      { state: 'ended', frames: [0, 0], warnings: [] },
    ]);
    const frame = await client.ask('GET frames/:seq', { path: [1] });
    expect(frame.http).toEqual({ headers: [['a', 'b']] });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

it('of a process keeps bytes that are not UTF-8', async () => {
  const args = ['-e', 'process.stdout.write(Buffer.from([0x7b, 0xff, 0x0a])); setInterval(() => {}, 1000)'];
  const { client } = await inspect((tap) => stdio({ command: process.execPath, args, tap }), {
    connectTimeoutMs: 500,
  });
  const { rows } = await client.ask('GET frames', { query: { kind: 'noise' } });
  const frame = await client.ask('GET frames/:seq', { path: [rows[0]![0]] });
  expect(frame.base64).toBe(Buffer.from([0x7b, 0xff]).toString('base64'));
  expect(frame.problem).toBeDefined();
});
