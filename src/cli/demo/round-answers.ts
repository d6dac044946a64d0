import { isJsonObject } from '../../wire/json-rpc.js';

/** What the client's model said, or undefined where the answer to `sampling/createMessage` has no content. */
export function sampledText(answer: unknown): string | undefined {
  const content = isJsonObject(answer) ? answer['content'] : undefined;
  const blocks = Array.isArray(content) ? content : [content];
  const texts = blocks.filter(isJsonObject).map(({ type, text }) => {
    return typeof text === 'string' ? text : `(${typeof type === 'string' ? type : 'unknown'} content)`;
  });
  return texts.length > 0 ? texts.join('\n') : undefined;
}

/** The URIs of the client's roots, one a line, or undefined where the answer to `roots/list` has no list. */
export function rootUris(answer: unknown): string | undefined {
  const roots = isJsonObject(answer) ? answer['roots'] : undefined;
  if (!Array.isArray(roots)) return undefined;
  const uris = roots.filter(isJsonObject).map(({ uri }) => String(uri));
  return uris.length > 0 ? uris.join('\n') : 'No roots';
}
