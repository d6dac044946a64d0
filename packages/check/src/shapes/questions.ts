/** What a server asks of a client: as a request (legacy), or inside a result (modern, MRTR-006). */

import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { contentBlock, fraction, mediaBlock, role, structured, textBlock } from './content.js';
import { uri } from './formats.js';
import { itemMeta, requestMeta } from './meta.js';
import { tool } from './offers.js';
import {
  all,
  anyObject,
  below,
  boolean,
  by,
  choice,
  count,
  integer,
  inWords,
  list,
  map,
  number,
  object,
  oneOf,
  only,
  type Revision,
  type Shape,
  type ShapeContext,
  since,
  string,
} from './shape.js';

const named = { 'title?': string, 'description?': string };
const titledChoices = list(object({ const: string, title: string }));

/** Free text, or a single choice. Titles moved from `enumNames` to `oneOf` with 2025-11-25. */
const stringField = object({
  ...named,
  'minLength?': count,
  'maxLength?': count,
  'format?': oneOf('email', 'uri', 'date', 'date-time'),
  'enum?': list(string),
  'enumNames?': list(string),
  'oneOf?': since('2025-11-25', titledChoices),
  'default?': since('2025-11-25', string),
});

const numberField = object({
  ...named,
  'minimum?': number,
  'maximum?': number,
  'default?': since('2025-11-25', number),
});

const booleanField = object({ ...named, 'default?': boolean });

/** A multiple choice. */
const arrayField = object({
  ...named,
  'minItems?': count,
  'maxItems?': count,
  items: (value, path, context) => {
    const titled = isJsonObject(value) && value['anyOf'] !== undefined;
    const shape = titled
      ? object({ anyOf: titledChoices })
      : object({ type: oneOf('string'), enum: list(string) });
    shape(value, path, context);
  },
  'default?': list(string),
});

const field = by('type', (revision) => ({
  string: stringField,
  number: numberField,
  integer: numberField,
  boolean: booleanField,
  ...(revision >= '2025-11-25' && { array: arrayField }),
}));

const form = object({
  message: string,
  requestedSchema: object({
    '$schema?': since('2025-11-25', string),
    type: oneOf('object'),
    properties: map(field),
    'required?': list(string),
  }),
});

/** `elicitationId` exists only in 2025-11-25. */
const visit: Shape = all(object({ message: string, url: uri }), (value, path, context) => {
  if (context.revision === '2025-11-25') object({ elicitationId: string })(value, path, context);
});

/** Without a mode it is a form. Modes came with 2025-11-25. */
const elicitationParams: Shape = (value, path, context) => {
  const mode = isJsonObject(value) ? value['mode'] : undefined;
  if (context.revision < '2025-11-25' || mode === undefined || mode === 'form') form(value, path, context);
  else if (mode === 'url') visit(value, path, context);
  else refuseMode(mode, path, context);
};

/** An entry of `data.elicitations` in error -32042. */
export const requiredVisit: Shape = all(object({ mode: oneOf('url') }), visit);

function refuseMode(mode: unknown, path: string, { complaints }: ShapeContext): void {
  complaints.push({ path: below(path, 'mode'), expected: choice(['form', 'url']), got: inWords(mode) });
}

const toolUse = object({ id: string, name: string, input: anyObject, '_meta?': itemMeta });
const toolResult = object({
  toolUseId: string,
  content: list(contentBlock),
  'structuredContent?': structured,
  'isError?': boolean,
  '_meta?': itemMeta,
});

const block = by('type', (revision) => ({
  text: textBlock,
  image: mediaBlock,
  ...(revision >= '2025-03-26' && { audio: mediaBlock }),
  ...(revision >= '2025-11-25' && { tool_use: toolUse, tool_result: toolResult }),
}));

/** One block, or an array of them from 2025-11-25 on. */
const content: Shape = (value, path, context) => {
  const many = context.revision >= '2025-11-25' && Array.isArray(value);
  (many ? list(block) : block)(value, path, context);
};

const message = object({ role, content, '_meta?': itemMeta });

const samplingParams: Shape = object({
  messages: all(list(message), since('2025-11-25', toolTurns)),
  maxTokens: integer,
  'modelPreferences?': object({
    'hints?': list(object({ 'name?': string })),
    'costPriority?': fraction,
    'speedPriority?': fraction,
    'intelligencePriority?': fraction,
  }),
  'systemPrompt?': string,
  'includeContext?': oneOf('none', 'thisServer', 'allServers'),
  'temperature?': number,
  'stopSequences?': list(string),
  'metadata?': anyObject,
  'tools?': since('2025-11-25', list(tool)),
  'toolChoice?': since('2025-11-25', object({ 'mode?': oneOf('auto', 'required', 'none') })),
});

/** The message after tool uses has a result for each of them (SAMP-008) and nothing else (SAMP-007). */
function toolTurns(messages: unknown, path: string, { complaints }: ShapeContext): void {
  if (!Array.isArray(messages)) return;
  messages.forEach((each, index) => {
    const blocks = blocksOf(each);
    const at = `${path}[${index}].content`;
    const results = blocks.filter(({ type }) => type === 'tool_result');
    if (results.length > 0 && results.length < blocks.length)
      complaints.push({ path: at, expected: 'results of tools alone', got: 'other blocks among them' });
    const answered = new Set(blocksOf(messages[index + 1]).map(({ toolUseId }) => toolUseId));
    for (const { type, id } of blocks)
      if (type === 'tool_use' && !answered.has(id))
        complaints.push({
          path: at,
          expected: `a tool_result for ${JSON.stringify(id)} in the next message`,
          got: 'none',
        });
  });
}

function blocksOf(message: unknown): Record<string, unknown>[] {
  return isJsonObject(message) ? [message['content']].flat().filter(isJsonObject) : [];
}

const noEnvelope: Shape = (value, path, { complaints }) => {
  if (!isJsonObject(value)) return;
  for (const member of ['jsonrpc', 'id'])
    if (value[member] !== undefined)
      complaints.push({ path: below(path, member), expected: 'nothing', got: inWords(value[member]) });
};

const inputRequest = by('method', () => ({
  'elicitation/create': object({ params: elicitationParams }),
  'sampling/createMessage': object({ params: samplingParams }),
  'roots/list': object({ 'params?': anyObject }),
}));

export const inputRequests: Shape = map(all(inputRequest, noEnvelope));

const anyParams: Shape = () => {};
const ofTask = object({ taskId: string });
/** A request that asks for a task instead of a result. */
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

/** Requests that only clients send. */
const OF_CLIENTS =
  /^(?:initialize|server\/discover|subscriptions\/listen|completion\/complete|logging\/setLevel|(?:tools|prompts|resources)\/.*)$/;

export function serverRequestShape(method: string): Shape {
  const known = Object.hasOwn(KNOWN, method) ? KNOWN[method] : undefined;
  return (value, path, context) => {
    const { revision, complaints } = context;
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
    known?.params(value, path, context);
    if (value !== undefined) object({ '_meta?': requestMeta })(value, path, context);
  };
}
