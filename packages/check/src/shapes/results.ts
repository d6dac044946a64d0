/** Results of a server, by method. */

import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { contentBlock, promptBlock, resource, resourceContents, role, structured } from './content.js';
import { implementation, meta, RELATED_TASK, resultMeta, serverCapabilities, streamMeta } from './meta.js';
import { prompt, resourceTemplate, tool } from './offers.js';
import { inputRequests } from './questions.js';
import {
  all,
  anyObject,
  boolean,
  count,
  inWords,
  list,
  object,
  oneOf,
  type Revision,
  type Shape,
  since,
  string,
} from './shape.js';
import { extensionTask, extensionTaskState, task } from './tasks.js';

const base = object({ '_meta?': resultMeta });

/** Cache hints (CACHE-001, CACHE-003, CACHE-004). */
const cacheable = since('2026-07-28', object({ ttlMs: count, cacheScope: oneOf('public', 'private') }));

const page = (members: Readonly<Record<string, Shape>>) => {
  return all(cacheable, object({ ...members, 'nextCursor?': string }));
};

const callResult = object({
  content: list(contentBlock),
  'structuredContent?': structured,
  'isError?': boolean,
});

/** Complete results. */
const COMPLETE: Readonly<Record<string, Shape>> = {
  'server/discover': all(
    cacheable,
    object({ supportedVersions: list(string), capabilities: serverCapabilities, 'instructions?': string }),
  ),
  initialize: object({
    protocolVersion: string,
    capabilities: serverCapabilities,
    serverInfo: implementation,
    'instructions?': string,
  }),
  'tools/list': page({ tools: list(tool) }),
  'resources/list': page({ resources: list(resource) }),
  'resources/templates/list': page({ resourceTemplates: list(resourceTemplate) }),
  'prompts/list': page({ prompts: list(prompt) }),
  'tools/call': (value, path, context) => {
    const asTask = context.revision === '2025-11-25' && isJsonObject(value) && value['task'] !== undefined;
    (asTask ? object({ task }) : callResult)(value, path, context);
  },
  'resources/read': all(cacheable, object({ contents: list(resourceContents) })),
  'prompts/get': object({
    'description?': string,
    messages: list(object({ role, content: promptBlock })),
  }),
  'completion/complete': object({
    completion: object({ values: list(string, 100), 'total?': count, 'hasMore?': boolean }),
  }),
  'subscriptions/listen': object({ _meta: streamMeta }),
  'tasks/get': since('2026-07-28', extensionTaskState, task),
  'tasks/cancel': since('2026-07-28', anyObject, task),
  'tasks/list': object({ tasks: list(task), 'nextCursor?': string }),
  'tasks/result': object({ _meta: meta({ [RELATED_TASK]: object({ taskId: string }) }) }),
};

/** An `input_required` result (MRTR-004). It is not cacheable (CACHE-002). */
const interim: Shape = all(
  object({ 'inputRequests?': inputRequests, 'requestState?': string }),
  (value, path, { complaints }) => {
    if (!isJsonObject(value)) return;
    if (value['inputRequests'] === undefined && value['requestState'] === undefined)
      complaints.push({ path, expected: 'inputRequests, requestState or both', got: 'neither' });
    for (const hint of ['ttlMs', 'cacheScope'])
      if (value[hint] !== undefined)
        complaints.push({ path: `${path}.${hint}`, expected: 'nothing', got: inWords(value[hint]) });
  },
);

const MAY_ASK: readonly string[] = ['tools/call', 'prompts/get', 'resources/read'];

/** Of an unknown method, only the common members are judged. */
export function resultShape(method: string, revision: Revision): Shape {
  const complete = named(COMPLETE, method) ?? anyObject;
  if (revision < '2026-07-28') return all(complete, base);
  const kinds: Record<string, Shape> = { complete };
  if (MAY_ASK.includes(method)) kinds['input_required'] = interim;
  if (method === 'tools/call') kinds['task'] = extensionTask;
  return (value, path, context) => {
    const kind = isJsonObject(value) ? value['resultType'] : undefined;
    const shape = typeof kind === 'string' ? named(kinds, kind) : undefined;
    if (isJsonObject(value)) oneOf(...Object.keys(kinds))(kind, `${path}.resultType`, context);
    all(shape ?? complete, base)(value, path, context);
  };
}

function named(shapes: Readonly<Record<string, Shape>>, name: string): Shape | undefined {
  return Object.hasOwn(shapes, name) ? shapes[name] : undefined;
}
