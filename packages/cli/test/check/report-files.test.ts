import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { readBaseline, writeBaseline, writeReports } from 'isthmus/internal/check/report-files.js';
import { createCheckProgress, exitCodeOf } from 'isthmus/internal/check/run-check.js';
import { createStyle } from 'isthmus/internal/terminal/terminal.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Counts } from '../../../check/src/model.js';
import { aFinding, aReport } from '../../../check/test/support/report/sample-report.js';

describe('the exit code', () => {
  const clean = { pass: 3, fail: 0, warn: 0, skip: 2, error: 0, accepted: 0 };

  it.each([
    ['all is well', {}, [], 0, 0],
    ['a MUST is broken', { fail: 1 }, [], 1, 1],
    ['a SHOULD is broken', { warn: 1 }, [], 0, 1],
    ['a check could not be finished', { error: 1 }, [], 1, 1],
    ['the baseline accepts what is broken', { accepted: 2 }, [], 0, 0],
    ['the baseline is stale', {}, ['a/b holds now'], 1, 1],
    ['nothing applied', { pass: 0 }, [], 1, 1],
    ['nothing but what is accepted applied', { pass: 0, accepted: 1 }, [], 0, 0],
  ] satisfies [string, Partial<Counts>, string[], number, number][])(
    'when %s',
    (_, given, stale, must, should) => {
      const report = { counts: { ...clean, ...given }, stale };
      expect([exitCodeOf(report, 'must'), exitCodeOf(report, 'should')]).toEqual([must, should]);
      expect(exitCodeOf(report)).toBe(must);
    },
  );
});

describe('the progress of a run', () => {
  it('is a line that is drawn over itself on a terminal, and taken away at the end', () => {
    const { stream, read } = errors();
    const progress = createCheckProgress({ stderr: stream, readsErrors: true, err: createStyle(false, {}) });
    progress.found(aFinding(), { done: 1, of: 4 });
    progress.found(aFinding({ outcome: 'fail', suite: 'http', title: 'Says\u001b[2J no' }), {
      done: 2,
      of: 4,
    });
    progress.end();
    expect(read()).toBe(
      [
        '[#####...............]  25%  1/4 protocol: Answers ping with an empty result',
        '[##########..........]  50%  2/4 1 fail; http: Says‹U+001B›[2J no',
        '',
      ].join('\r\u001b[K'),
    );
  });

  it('is silent elsewhere', () => {
    const { stream, read } = errors();
    const progress = createCheckProgress({ stderr: stream, readsErrors: false, err: createStyle(false, {}) });
    progress.found(aFinding(), { done: 1, of: 4 });
    progress.end();
    expect(read()).toBe('');
  });
});

describe('files of reports', () => {
  it('are written where they are wanted, with the folders that they need', async () => {
    const folder = await freeFolder();
    const files = {
      junit: join(folder, 'a/b/junit.xml'),
      sarif: join(folder, 'check.sarif'),
      html: join(folder, 'a/page.html'),
    };
    await writeReports(aReport(), files, { failOn: 'should', sarifArtifact: 'src/server.ts' });
    expect(await readFile(files.junit, 'utf8')).toMatch(/^<\?xml .*\n<testsuites .* failures="2" /);
    expect(
      JSON.parse(await readFile(files.sarif, 'utf8')).runs[0].results[0].locations[0].physicalLocation,
    ).toEqual({
      artifactLocation: { uri: 'src/server.ts', uriBaseId: '%SRCROOT%' },
      region: { startLine: 1 },
    });
    expect(await readFile(files.html, 'utf8')).toContain('1 SHOULD is broken');
  });

  it('that cannot be written are named, with their option', async () => {
    const folder = await freeFolder();
    await expect(writeReports(aReport(), { junit: folder })).rejects.toMatchObject({
      exitCode: 2,
      message: `Cannot write --junit ${folder}: it is a folder`,
    });
  });
});

describe('the file of the baseline', () => {
  it('is written for what fails, and read again', async () => {
    const file = join(await freeFolder(), 'sub/baseline.json');
    expect(await readBaseline(file, { update: true })).toEqual({ version: 1, accepted: [] });
    const written = await writeBaseline(file, aReport(), {});
    expect(written.accepted).toEqual([
      { check: 'stdio/answers-what-is-not-json', era: 'modern' },
      { check: 'tools/input-schema-is-valid', era: 'modern' },
    ]);
    expect(await readBaseline(file)).toEqual(written);
  });

  it('must be there, and make sense', async () => {
    const folder = await freeFolder();
    await expect(readBaseline(join(folder, 'none.json'))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('Cannot read --baseline'),
      hint: '--update-baseline creates it',
    });
    const file = join(folder, 'bad.json');
    await writeFile(file, '{"version":3}');
    await expect(readBaseline(file, { update: true })).rejects.toMatchObject({
      exitCode: 2,
      message: `The baseline ${file} has "version" 3; this program reads version 1`,
    });
  });
});

async function freeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-report-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function errors() {
  const stream = Object.assign(new PassThrough(), { columns: 100 });
  return { stream, read: () => String(stream.read() ?? '') };
}
