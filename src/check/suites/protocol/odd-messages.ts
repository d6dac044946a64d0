import { isJsonObject, type JsonObject } from '../../../wire/json-rpc.js';
import type { Check } from '../../model.js';
import { type Frame, membersOf } from '../../wire/transcript.js';
import { harmless } from './answers.js';
import { hearAfter, usualParams } from './exact.js';

/** Messages that JSON-RPC knows and MCP does not. */
export const oddMessageChecks: readonly Check[] = [
  {
    id: 'messages/null-id',
    suite: 'protocol',
    title: 'Does not serve a request whose id is null',
    level: 'MUST',
    rules: ['JRPC-003', 'JRPC-007'],
    lane: 'own',
    hint: 'Refuse it with -32600: MCP has no null ids, and an answer under null can be matched to nothing.',
    async run(table) {
      const method = harmless(table);
      const { frames } = await hearAfter(table, { jsonrpc: '2.0', id: null, method, ...usualParams(table) });
      const served = frames.find((frame) => frame.kind === 'result');
      if (served) table.fail('a request with id null was served with a result', 'error -32600');
      const code = frames.map((frame) => codeOf(frame)).find((each) => each !== undefined);
      return code === undefined
        ? 'a request with id null was left alone'
        : `a request with id null was refused with error ${String(code)}`;
    },
  },
  {
    id: 'messages/batch-refused',
    suite: 'protocol',
    title: 'Does not take an array of messages in a revision without batches',
    level: 'MUST',
    rules: ['JRPC-019', 'STDIO-002'],
    lane: 'own',
    hint: 'Refuse arrays with -32600: batches exist in 2025-03-26 only.',
    async run(table) {
      if (table.revision < '2025-06-18') table.skip(`revision ${table.revision} is older than the rule`);
      const { frames } = await hearAfter(table, twoRequests(harmless(table), usualParams(table)));
      const served = frames.find((frame) => resultsWithin(frame).length > 0);
      if (served) table.fail('an array of two requests was served', 'error -32600 or no answer');
      return frames.length === 0
        ? 'an array of two requests was left alone'
        : 'an array of two requests was refused';
    },
  },
  {
    id: 'messages/batch-2025-03-26',
    suite: 'protocol',
    title: 'Takes an array of requests in revision 2025-03-26',
    level: 'MUST',
    rules: ['JRPC-017'],
    era: 'legacy',
    lane: 'own',
    hint: 'Answer each request of the array, in an array or one by one; or do not negotiate 2025-03-26.',
    async run(table) {
      const { frames, revision } = await hearAfter(table, twoRequests('ping'), '2025-03-26');
      if (revision !== '2025-03-26') table.skip(`asked for 2025-03-26, the server chose ${revision}`);
      const ids = frames.flatMap((frame) => resultsWithin(frame));
      if (!ids.includes('one') || !ids.includes('two')) {
        const seen = ids.length === 0 ? 'none' : ids.join(' and ');
        table.fail(`of the requests "one" and "two" in an array, ${seen} had a result`, 'both');
      }
      return 'both requests of an array were answered';
    },
  },
];

function twoRequests(method: string, params: { readonly params?: JsonObject } = {}): JsonObject[] {
  return ['one', 'two'].map((id) => ({ jsonrpc: '2.0', id, method, ...params }));
}

/** The ids of results, be they in a batch or alone. */
function resultsWithin(frame: Frame): unknown[] {
  const messages = Array.isArray(frame.json) ? frame.json : [frame.json];
  return messages.filter(isJsonObject).flatMap(({ id, result }) => (result === undefined ? [] : [id]));
}

function codeOf(frame: Frame): unknown {
  const { error } = membersOf(frame);
  return isJsonObject(error) ? error['code'] : undefined;
}
