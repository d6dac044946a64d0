/** What a legacy server asks its client. A modern server asks inside its results (JRPC-013). */
import { elicitationParams } from './elicitation.js';
import { requestMeta } from './meta.js';
import { samplingParams } from './sampling.js';
import { all, count, inWords, object, only, type Revision, type Shape, string } from './shape.js';

const anyParams: Shape = () => {};
const ofTask = object({ taskId: string });
/** Asking for a task instead of an answer. */
const augmented = only('2025-11-25', object({ 'task?': object({ 'ttl?': count }) }));

const KNOWN: Readonly<Record<string, { readonly since: Revision; readonly params: Shape }>> = {
  ping: { since: '2024-11-05', params: anyParams },
  'roots/list': { since: '2024-11-05', params: anyParams },
  'sampling/createMessage': { since: '2024-11-05', params: all(samplingParams, augmented) },
  'elicitation/create': { since: '2025-06-18', params: all(elicitationParams, augmented) },
  'tasks/get': { since: '2025-11-25', params: ofTask },
  'tasks/result': { since: '2025-11-25', params: ofTask },
  'tasks/cancel': { since: '2025-11-25', params: ofTask },
  'tasks/list': { since: '2025-11-25', params: anyParams },
};

/** What clients ask servers, never the other way round. */
const OF_CLIENTS =
  /^(?:initialize|server\/discover|subscriptions\/listen|completion\/complete|logging\/setLevel|(?:tools|prompts|resources)\/.*)$/;

export function serverRequestShape(method: string): Shape {
  const known = Object.hasOwn(KNOWN, method) ? KNOWN[method] : undefined;
  return (value, path, ground) => {
    const { revision, complaints } = ground;
    if (revision >= '2026-07-28') {
      complaints.push({ path: 'method', expected: 'no request from a server', got: inWords(method) });
      return;
    }
    if (OF_CLIENTS.test(method) || (known && revision < known.since)) {
      complaints.push({
        path: 'method',
        expected: `a request of a server of ${revision}`,
        got: inWords(method),
      });
      return;
    }
    known?.params(value, path, ground);
    if (value !== undefined) object({ '_meta?': requestMeta })(value, path, ground);
  };
}
