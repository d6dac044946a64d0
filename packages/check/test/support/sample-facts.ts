import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Facts, WalkthroughStop } from '../../src/survey/facts.js';
import type { Judged } from '../../src/through/compare.js';
import type { Frame } from '../../src/wire/transcript.js';
import { aFinding, aReport } from './report/sample-report.js';

/** A server with a tool, a resource and a prompt, and what it answered. */
export function aServer(given: Partial<Facts> = {}): Facts {
  return {
    era: 'legacy',
    revision: '2025-11-25',
    isSse: false,
    hello: { instructions: 'Ask for the weather.' },
    capabilities: { tools: {}, resources: { subscribe: true } },
    serverInfo: { name: 'weather', version: '1.0.0' },
    tools: [{ name: 'forecast', inputSchema: { type: 'object' } }],
    resources: [{ uri: 'weather://today', name: 'today' }],
    templates: [],
    prompts: [{ name: 'plan' }],
    failedLists: [],
    hasLooseErrors: false,
    killedBy: undefined,
    callable: [],
    objections: [],
    walkthrough: [aStop()],
    ...given,
  };
}

/** A call of `forecast`. */
export function aStop(
  result: JsonObject = { content: [{ type: 'text', text: 'Rain' }] },
  heard: readonly Frame[] = [],
  questions: readonly Frame[] = [],
): WalkthroughStop {
  return {
    method: 'tools/call',
    params: { name: 'forecast', arguments: {} },
    progressToken: 1001,
    questions,
    reply: {
      kind: 'result',
      result,
      frame: aFrame('', {}),
      id: 1,
      method: 'tools/call',
      notifications: heard,
      ms: 1,
    },
  };
}

export function aFrame(method: string, params: JsonObject): Frame {
  const json = { jsonrpc: '2.0', method, params };
  return { from: 'server', kind: 'notification', method, json, text: JSON.stringify(json), atMs: 0 } as Frame;
}

/** What a run found on this server. */
export function judged(facts: readonly Facts[], findings = [aFinding()]): Judged {
  return { facts, report: aReport({ findings }) };
}
