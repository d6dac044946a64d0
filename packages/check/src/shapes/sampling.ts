/** What a server asks of the client's model. */
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { contentBlock, fraction, mediaBlock, role, structured, textBlock } from './content.js';
import { itemMeta } from './meta.js';
import { tool } from './offers.js';
import {
  all,
  anyObject,
  boolean,
  by,
  type Ground,
  integer,
  list,
  number,
  object,
  oneOf,
  type Shape,
  since,
  string,
} from './shape.js';

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
const content: Shape = (value, path, ground) => {
  const many = ground.revision >= '2025-11-25' && Array.isArray(value);
  (many ? list(block) : block)(value, path, ground);
};

const message = object({ role, content, '_meta?': itemMeta });

export const samplingParams: Shape = object({
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

/** Results of tools come in a message of their own (SAMP-007), at once and for every use (SAMP-008). */
function toolTurns(messages: unknown, path: string, { complaints }: Ground): void {
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
