import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { logs } from '@opentelemetry/api-logs';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { legacyCall, modern, modernCall, openSession } from '../../../sdk/test/support/http-server.js';
import { openAuditFile } from '../../src/audit/audit-file.js';
import type { AuditRecord } from '../../src/audit/audit-record.js';
import { freshFolder } from '../support/open-gateway.js';
import { as, scopedHouse } from '../support/scoped-tokens.js';

const ACCESS = {
  scopes: { other: ['mcp:write'] },
  rules: [{ effect: 'deny', tools: ['delete_*'], principals: ['key:*'] }],
} as const;

const TRACE = '0af7651916cd43dd8448eb211c80319c';

function linesOf(file: string): Partial<AuditRecord>[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Calls of several kinds, then what was written of them. */
async function recorded(): Promise<Partial<AuditRecord>[]> {
  const file = join(freshFolder(), 'audit.jsonl');
  const house = await scopedHouse(ACCESS, { audit: { file } });
  const secret = { password: 'hunter2-hunter2', text: 'plain' };
  const meta = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
  await house.ask('/mcp', modernCall(1, 'files__read_one', secret, { ...as('ada/'), meta }));
  await house.ask('/mcp/files', modernCall(2, 'write_one', {}, as('ada/')));
  await house.ask('/mcp/files', modernCall(3, 'delete_one', {}, as('ci')));
  await house.ask('/mcp/mail', modern(4, 'prompts/get', { name: 'greet' }, as('ada/mcp:write')));
  await house.operation.close();
  return linesOf(file);
}

describe('the audit log', () => {
  it('says who did what, where, and how it ended; never with arguments', async () => {
    const lines = (await recorded()).filter(({ method }) => method !== 'tools/list');
    const shown = lines.map(({ principal, clientId, server, method, tool, prompt, outcome, scopes }) => [
      ...[principal, clientId, server, method, tool ?? prompt, outcome, scopes],
    ]);
    const ada = ['jwt:https://login.example|ada', 'app-of-ada'];
    expect(shown).toEqual([
      [...ada, 'files', 'tools/call', 'read_one', 'ok', undefined],
      [...ada, 'files', 'tools/call', 'write_one', 'insufficient_scope', ['mcp:write']],
      ['key:ci', undefined, 'files', 'tools/call', 'delete_one', 'denied', undefined],
      [...ada, 'mail', 'prompts/get', 'greet', 'ok', undefined],
    ]);
    expect(JSON.stringify(lines)).not.toContain('plain');
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  it('has arguments if they are asked for, without secrets', async () => {
    const file = join(freshFolder(), 'audit.jsonl');
    const house = await scopedHouse({}, { audit: { file, withArguments: true } });
    const given = { password: 'hunter2-hunter2', text: 'plain' };
    await house.ask('/mcp/files', modernCall(1, 'read_one', given, as('ada/')));
    await house.operation.close();
    const [call] = linesOf(file).filter(({ method }) => method === 'tools/call');
    expect(call?.arguments).toBe('{"password":"[redacted]","text":"plain"}');
  });

  it('has the trace of a call as its correlation id, and the id that a refused client got', async () => {
    const file = join(freshFolder(), 'audit.jsonl');
    const house = await scopedHouse(ACCESS, { audit: { file } });
    const meta = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    await house.ask('/mcp/files', modernCall(1, 'read_one', {}, { ...as('ada/mcp:write'), meta }));
    const { json } = await house.ask('/mcp/files', modernCall(2, 'write_one', {}, as('ada/')));
    await house.operation.close();
    const calls = linesOf(file).filter(({ method }) => method === 'tools/call');
    const { correlationId } = json.error!.data as { correlationId: string };
    expect(calls.map((each) => each.correlationId)).toEqual([TRACE, correlationId]);
  });

  it('goes to OpenTelemetry while a logger provider is registered', async () => {
    const exporter = new InMemoryLogRecordExporter();
    const processor = new SimpleLogRecordProcessor({ exporter });
    const house = await scopedHouse(ACCESS);
    await house.ask('/mcp/files', modernCall(1, 'delete_one', {}, as('dev')));
    logs.setGlobalLoggerProvider(new LoggerProvider({ processors: [processor] }));
    onTestFinished(() => logs.disable());
    await house.ask('/mcp/files', modernCall(2, 'delete_one', {}, as('ci')));
    await until('a record', () => exporter.getFinishedLogRecords().length > 0);
    const [record, ...more] = exporter.getFinishedLogRecords();
    expect(more).toEqual([]);
    expect(record).toMatchObject({
      eventName: 'isthmus.audit',
      severityText: 'WARN',
      body: 'key:ci tools/call delete_one at files: denied',
      attributes: {
        'enduser.id': 'key:ci',
        'isthmus.server.name': 'files',
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'delete_one',
        'isthmus.outcome': 'denied',
      },
    });
  });

  it.each([
    ['a line feed', '\n'],
    ['a line feed of eight bits', '\u0085'],
    ['a line separator', '\u2028'],
    ['a change of direction', '\u202e'],
    ['a terminal sequence', '\u001b[2K\r'],
  ])('is not told a second line by a name with %s', async (_what, character) => {
    const file = join(freshFolder(), 'audit.jsonl');
    const exporter = new InMemoryLogRecordExporter();
    const house = await scopedHouse(ACCESS, { audit: { file } });
    logs.setGlobalLoggerProvider(
      new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] }),
    );
    onTestFinished(() => logs.disable());
    const forged = `delete_x${character}key:root tools/call wipe at mail: ok`;
    const session = await openSession(house.at('/mcp/files'), as('ci'));
    await session.post(legacyCall(1, forged));
    await house.operation.close();
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(text)).toMatchObject({ principal: 'key:ci', tool: forged, outcome: 'denied' });
    expect(exporter.getFinishedLogRecords().map(({ body }) => body)).toEqual([
      'key:ci tools/call delete_x key:root tools/call wipe at mail: ok at files: denied',
    ]);
  });
});

/** Empty while there is no such file. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

describe('the file of the audit log', () => {
  const record = (correlationId: string) => ({ correlationId, outcome: 'ok' }) as AuditRecord;

  it('is renamed when it is long, keeps as many as it should, and only its owner can read it', async () => {
    const folder = freshFolder();
    const file = join(folder, 'a.jsonl');
    const warnings: string[] = [];
    const sink = await openAuditFile({
      ...{ file, maxBytes: 200, keep: 2, clock: systemClock, warn: (line) => warnings.push(line) },
    });
    for (let at = 0; at < 10; at += 1) {
      sink.write(record(`${at}-${'x'.repeat(100)}`));
      // The file is away for a moment while it is renamed.
      await until(`line ${at}`, () => textOf(file).includes(`"${at}-`));
    }
    await sink.close();
    expect(readdirSync(folder).sort()).toEqual(['a.jsonl', 'a.jsonl.1', 'a.jsonl.2']);
    expect(linesOf(`${file}.1`).map((line) => line.correlationId?.[0])).toEqual(['8']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(warnings).toEqual([]);
  });

  it('cannot be opened: that is told at the start', async () => {
    const file = join(freshFolder(), 'no', 'such');
    const options = { file, clock: systemClock, warn: () => {} };
    await expect(openAuditFile(options)).rejects.toThrow(
      `The audit log ${file} cannot be opened: there is no such folder`,
    );
  });
});
