import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** Which tools of a server may be called: somebody's files may hang on it. */
export interface Consent {
  /** All that do not say that they destroy something. */
  readonly callTools: boolean;
  /** These, whatever they say. */
  readonly allow: readonly string[];
  /** None but those of `allow`, not even tools that say that they only read: they may reach out, or cost money. */
  readonly noTools: boolean;
}

/** Why a tool is not called; undefined when it may be. */
export function objectionTo(tool: JsonObject, { callTools, allow, noTools }: Consent): string | undefined {
  const name = String(tool['name']);
  if (allow.includes(name)) return undefined;
  if (noTools) return `${name} is not called because of --no-tools`;
  const annotations = isJsonObject(tool['annotations']) ? tool['annotations'] : {};
  if (annotations['readOnlyHint'] === true) return undefined;
  if (annotations['destructiveHint'] === true)
    return `${name} says that it destroys something; --allow ${name} calls it`;
  if (callTools) return undefined;
  return `${name} does not say that it only reads; --call-tools or --allow ${name} calls it`;
}
