import { type Complaint, complaintText, judgeResult, type Revision } from '../../../src/shapes/index.js';

export const REVISIONS: readonly Revision[] = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
];

export function said(complaints: readonly Complaint[]): string[] {
  return complaints.map(complaintText);
}

/** What is said of a result; in 2026-07-28 it is made complete first. */
export function saidOf(method: string, result: object, revision: Revision = '2026-07-28'): string[] {
  const hints = /\/(?:list|read|discover)$/.test(method) ? { ttlMs: 0, cacheScope: 'private' } : {};
  const modern = revision === '2026-07-28' ? { resultType: 'complete', ...hints } : {};
  return said(judgeResult(method, { ...modern, ...result }, revision));
}

/** What is said of one tool among those of a list, and so on. */
export const saidOfTool = (tool: unknown, revision?: Revision) =>
  saidOf('tools/list', { tools: [tool] }, revision);
export const saidOfBlock = (block: unknown, revision?: Revision) =>
  saidOf('tools/call', { content: [block] }, revision);
