import { isJsonObject } from '../wire/json-rpc.js';
import type { ClientCapabilities, InputRequest } from '../wire/model.js';

/**
 * What a question needs of the client that the client did not declare, as the capability object that would
 * satisfy it (`{ elicitation: { url: {} } }`), or `undefined` when the question may be asked.
 * `elicitation: {}` means form mode only (wire sheet §3).
 */
export function missingCapability(
  request: InputRequest,
  declared: ClientCapabilities,
): ClientCapabilities | undefined {
  switch (request.method) {
    case 'roots/list':
      return declared.roots ? undefined : { roots: {} };
    case 'elicitation/create': {
      const elicitation = declared.elicitation;
      if (request.params.mode === 'url') {
        return elicitation?.url ? undefined : { elicitation: { url: {} } };
      }
      if (elicitation && (elicitation.form || !elicitation.url)) return undefined;
      return { elicitation: { form: {} } };
    }
    case 'sampling/createMessage': {
      const { tools, toolChoice, includeContext } = request.params;
      if (!declared.sampling) return { sampling: {} };
      if ((tools !== undefined || toolChoice !== undefined) && !declared.sampling.tools) {
        return { sampling: { tools: {} } };
      }
      if (includeContext !== undefined && includeContext !== 'none' && !declared.sampling.context) {
        return { sampling: { context: {} } };
      }
      return undefined;
    }
  }
}

/** `sampling.tools`: the dotted names of a capability object, for messages. */
export function capabilityNames(capabilities: ClientCapabilities): string {
  const names: string[] = [];
  for (const [name, value] of Object.entries(capabilities)) {
    const inner = isJsonObject(value) ? Object.keys(value) : [];
    names.push(...(inner.length === 0 ? [name] : inner.map((part) => `${name}.${part}`)));
  }
  return names.join(', ');
}
