/** Runs of the benchmarks become figures, and figures become the tables of pages. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ModeResults, mergeRuns } from '../../benchmarks/compare/figures.js';
import { fillPage, PAGES } from '../../benchmarks/compare/pages.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const ALL = JSON.parse(read('test/benchmarks/runs/all.json'));
const CLIENTS = JSON.parse(read('test/benchmarks/runs/clients.json'));
const SCOREBOARD = read('docs/scoreboard.md');

const tableIn = (results: Record<string, ModeResults>, name: string) =>
  fillPage(`<!-- compare: ${name} -->\nold\n<!-- end of ${name} -->\n`, results, SCOREBOARD)
    .split('\n')
    .slice(2, -3);

describe('a run', () => {
  it('replaces the modes that it has, and leaves the others', () => {
    const before = mergeRuns({}, [ALL, CLIENTS]);
    expect(Object.keys(before)).toEqual(['stdio', 'bridge', 'clients']);
    const after = mergeRuns(before, [{ ...CLIENTS, date: '2026-12-01T00:00:00.000Z' }]);
    expect(after['clients']?.run.date).toBe('2026-12-01T00:00:00.000Z');
    expect(after['stdio']).toEqual(before['stdio']);
  });

  it('of an unknown mode is refused', () => {
    expect(() => mergeRuns({}, [{ modes: { disk: {} } }])).toThrow('A run of the mode disk cannot be read');
  });
});

describe('the tables', () => {
  const results = mergeRuns({}, [ALL, CLIENTS]);

  it('have the cell that is quoted, with ratios of neighbouring rounds', () => {
    expect(tableIn(results, 'stdio')).toEqual([
      '| server | era | CPU per call | of the bare loop | p50 | p99 | peak memory |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      '| bare Node | modern | 4.0 µs | 1.0× | 0.30 ms | 0.70 ms | 60 MB |',
      '| **Isthmus** | modern | 5.0 µs | 1.3× | 0.30 ms | 0.70 ms | 61 MB |',
      '| official SDK v2 | modern | 80 µs | 20× | 3.4 ms | 11 ms | 60 MB |',
      '',
      'Measured on 2026-11-20 with Node 20.20.2, 2 cores.',
    ]);
  });

  it('leave out the CPU of a bridge that starts a process for each call', () => {
    expect(tableIn(results, 'bridge').slice(2, 5)).toEqual([
      '| modern → modern | **isthmus serve** | 55 µs | 1.1× | 150 µs | 0.20 ms |',
      '| modern → modern | mcp-proxy 6.7 | 450 µs | 9.0× | 600 µs | 0.60 ms |',
      '| modern → modern | supergateway 4, stateless |  |  |  | 70 ms |',
    ]);
  });

  it('read a file of one mode', () => {
    expect(tableIn(results, 'clients').slice(2)).toEqual([
      '| bare Node | 9.4 µs | 9.4 µs | 541 ms |  |',
      '| **Isthmus** | 12 µs | 12 µs | 552 ms | 560 ms |',
      '',
      'Measured on 2026-11-21 with Node 20.20.2, 2 cores.',
    ]);
  });

  it('say what was not measured', () => {
    expect(tableIn(results, 'http')).toEqual(['Not measured yet.']);
  });

  it('judge the goals by their limits of today', () => {
    const rows = tableIn(results, 'goals');
    const where = 'modern client, 32 connections';
    expect(rows).toContain(
      `| bridge | CPU against our own HTTP server, warm | ${where} | at most 1.20x | 1.10x | met |`,
    );
    expect(rows).toContain(
      `| bridge | CPU against mcp-proxy, warm | ${where} | at most 1/10 | 1/8.2 | missed |`,
    );
    expect(rows.filter((row) => row.includes('not measured yet')).length).toBeGreaterThan(30);
  });

  it('of README.md have at most eight rows, and every figure', () => {
    const rows = tableIn(results, 'summary');
    expect(rows[6]).toBe('| CPU of a call, server on stdio | **5.0 µs** | 80 µs | – | – | – | – |');
    expect(rows.filter((row) => row.startsWith('| '))).toHaveLength(2 + 8);
    expect(rows.at(-1)).toBe('Measured on 2026-11-20 with Node 20.20.2, 2 cores.');
  });
});

it.each(PAGES)('%s has the figures of benchmarks/results.json', (path) => {
  const page = read(path);
  expect(page).toContain('<!-- compare: ');
  expect(page, `${path} is stale: run npm run compare`).toBe(
    fillPage(page, JSON.parse(read('benchmarks/results.json')), SCOREBOARD),
  );
});
