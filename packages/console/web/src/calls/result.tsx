import { useState } from 'preact/hooks';
import type { CallDetail } from '../../../src/contract.js';
import { send } from '../api.js';
import { member } from '../json/print.js';
import { tryRaw } from '../json/raw.js';
import { Button, Segments } from '../parts/controls.js';
import { size } from '../parts/format.js';
import { JsonTree } from '../parts/json-tree.js';
import { saveBytes } from '../parts/save.js';
import { Badge, Problem } from '../parts/states.js';
import { Text } from '../parts/text.js';
import { Content } from './content.js';
import { Messages } from './messages.js';

type View = 'content' | 'structured' | 'raw';

/** What a call brought: its content, its structured content, and the whole as it came. */
export function Result({
  detail,
  onRead,
}: {
  readonly detail: CallDetail;
  readonly onRead?: (uri: string) => void;
}) {
  const { result = '', resultBytes = 0 } = detail;
  const isWhole = result.length >= resultBytes || new Blob([result]).size >= resultBytes;
  const raw = isWhole ? tryRaw(result) : undefined;
  const value = raw ? (JSON.parse(result) as Readonly<Record<string, unknown>>) : {};
  const blocks = [value['content'], value['contents']].find(Array.isArray) as unknown[] | undefined;
  const messages = Array.isArray(value['messages']) ? (value['messages'] as unknown[]) : undefined;
  const structured = member(raw, 'structuredContent');
  const [view, setView] = useState<View | undefined>();
  const [error, setError] = useState<unknown>();
  const save = () =>
    send('GET calls/:id/content/:index', { path: [detail.id, 0] })
      .then(async (response) => saveBytes(await response.blob(), `call-${detail.id}-0`))
      .then(() => setError(undefined), setError);
  const seen = view ?? (blocks || messages ? 'content' : structured ? 'structured' : 'raw');
  if (!isWhole)
    return (
      <div class="stack">
        <p>
          <strong>{`The result has ${size(resultBytes)}.`}</strong> Here is its beginning. A trace file has
          all of it. <Button onClick={save}>Save its first content</Button>
        </p>
        <Problem error={error} />
        <pre class="text">
          <Text of={result} max={20_000} />
        </pre>
      </div>
    );
  return (
    <div class="result">
      <div class="block-head">
        <Segments
          label="View of the result"
          value={seen}
          choices={[
            ...(blocks || messages
              ? ([{ value: 'content', say: messages ? 'Messages' : 'Content' }] as const)
              : []),
            ...(structured ? ([{ value: 'structured', say: 'Structured' }] as const) : []),
            { value: 'raw', say: 'Raw' },
          ]}
          onChange={setView}
        />
        {value['isError'] === true && <Badge kind="fail">isError</Badge>}
        {detail.structured && (
          <Badge kind={detail.structured.matches ? 'pass' : 'fail'}>
            {detail.structured.matches ? 'fits its output schema' : 'does not fit its output schema'}
          </Badge>
        )}
        <Kept value={value} />
        <span class="grow" />
        <span class="soft">{size(resultBytes)}</span>
      </div>
      {detail.structured?.problem !== undefined && (
        <p class="field-advice">
          <Text of={detail.structured.problem} />
        </p>
      )}
      {seen === 'content' && blocks && <Content blocks={blocks} onRead={onRead} />}
      {seen === 'content' && messages && <Messages messages={messages} onRead={onRead} />}
      {seen === 'structured' && structured && (
        <JsonTree raw={structured} label="Structured content" open={3} />
      )}
      {seen === 'raw' && raw && <JsonTree raw={raw} label="Raw result" open={3} />}
    </div>
  );
}

/** How long a result may be kept, where a modern server says so. */
function Kept({ value }: { readonly value: Readonly<Record<string, unknown>> }) {
  const { ttlMs, cacheScope } = value;
  if (typeof ttlMs !== 'number') return null;
  return (
    <span class="soft">{`may be kept ${ttlMs} ms${typeof cacheScope === 'string' ? `, ${cacheScope}` : ''}`}</span>
  );
}
