import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { InputRequest } from '../../wire/model.js';
import { isQuestion } from '../answers.js';
import { isAtLeast, type LegacyRevision } from '../revisions.js';
import { projectBlock } from './project-results.js';

/** A question as the revision can carry it, or why it cannot. */
type ProjectedQuestion =
  | { readonly kind: 'request'; readonly params: JsonObject | undefined }
  | { readonly kind: 'inexpressible'; readonly why: string };

export function projectQuestion(
  request: InputRequest,
  revision: LegacyRevision,
  newElicitationId: () => string,
): ProjectedQuestion {
  if (!isQuestion(request.method)) return asIs((request as InputRequest).params ?? {});
  switch (request.method) {
    case 'roots/list':
      return { kind: 'request', params: request.params as JsonObject | undefined };
    case 'sampling/createMessage':
      return isAtLeast(revision, '2025-11-25')
        ? asIs(request.params)
        : projectSampling(request.params as unknown as JsonObject, revision);
    case 'elicitation/create': {
      const params = request.params as unknown as JsonObject;
      // ELIC-007: 2025-11-25 requires an id in url mode; 2026-07-28 has none.
      if (params['mode'] === 'url') {
        return { kind: 'request', params: { elicitationId: newElicitationId(), ...params } };
      }
      return isAtLeast(revision, '2025-11-25') ? asIs(params) : projectForm(params);
    }
  }
}

function asIs(params: object): ProjectedQuestion {
  return { kind: 'request', params: params as JsonObject };
}

/** 2025-06-18 has flat primitives, `enum` with `enumNames`, and a default only on booleans. */
function projectForm(params: JsonObject): ProjectedQuestion {
  const schema = params['requestedSchema'];
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return asIs(params);
  const properties: [string, JsonObject][] = [];
  for (const [name, property] of Object.entries(schema['properties'])) {
    if (!isJsonObject(property)) continue;
    if (property['type'] === 'array') {
      return { kind: 'inexpressible', why: `"${name}" is a multiple choice, which 2025-06-18 does not have` };
    }
    properties.push([name, projectField(property)]);
  }
  const { mode, ...rest } = params;
  return {
    kind: 'request',
    params: { ...rest, requestedSchema: { ...schema, properties: Object.fromEntries(properties) } },
  };
}

function projectField(field: JsonObject): JsonObject {
  const { default: preset, oneOf, ...rest } = field;
  const fitted: JsonObject = rest;
  if (preset !== undefined && field['type'] === 'boolean') fitted['default'] = preset;
  if (Array.isArray(oneOf)) {
    const options = oneOf.filter(isJsonObject);
    fitted['enum'] = options.map((option) => option['const']);
    fitted['enumNames'] = options.map((option) => option['title'] ?? option['const']);
  }
  return fitted;
}

/** Before 2025-11-25 a message holds one block; several are sent as several messages of the same role. */
function projectSampling(params: JsonObject, revision: LegacyRevision): ProjectedQuestion {
  const messages: JsonObject[] = [];
  for (const message of Array.isArray(params['messages']) ? params['messages'] : []) {
    if (!isJsonObject(message)) continue;
    const content = message['content'];
    for (const block of Array.isArray(content) ? content : [content]) {
      const type = isJsonObject(block) ? block['type'] : undefined;
      if (type === 'tool_use' || type === 'tool_result') {
        return { kind: 'inexpressible', why: `${revision} has no tool use in sampling` };
      }
      if (type === 'audio' && !isAtLeast(revision, '2025-03-26')) {
        return { kind: 'inexpressible', why: `${revision} has no audio` };
      }
      messages.push({
        role: message['role'],
        content: isJsonObject(block) ? projectBlock(block, revision) : block,
      });
    }
  }
  return { kind: 'request', params: { ...params, messages } };
}
