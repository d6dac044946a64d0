import { useEffect, useState } from 'preact/hooks';
import { tryRaw } from '../json/raw.js';
import { Button, CopyButton } from '../parts/controls.js';
import { Address } from '../parts/external.js';
import { size } from '../parts/format.js';
import { JsonTree } from '../parts/json-tree.js';
import { saveBytes } from '../parts/save.js';
import { plain, Text } from '../parts/text.js';

type Block = Readonly<Record<string, unknown>>;

export interface ContentProps {
  readonly blocks: readonly unknown[];
  /** Reads a resource that a block links to. */
  readonly onRead?: ((uri: string) => void) | undefined;
}

/** The content blocks of a result. Nothing in them runs, and nothing is fetched. */
export function Content({ blocks, onRead }: ContentProps) {
  return (
    <ol class="blocks">
      {blocks.slice(0, MAX_BLOCKS).map((block, at) => (
        <li key={at}>
          <One block={isBlock(block) ? block : { type: 'unknown' }} name={`content-${at}`} onRead={onRead} />
        </li>
      ))}
      {blocks.length > MAX_BLOCKS && (
        <li class="soft">{`${blocks.length - MAX_BLOCKS} more: see the raw result`}</li>
      )}
    </ol>
  );
}

const MAX_BLOCKS = 200;

function One({
  block,
  name,
  onRead,
}: {
  readonly block: Block;
  readonly name: string;
  readonly onRead: ContentProps['onRead'];
}) {
  const type =
    str(block['type']) ?? (block['blob'] !== undefined || block['uri'] !== undefined ? 'resource' : 'text');
  if (type === 'text') return <TextBlock text={str(block['text']) ?? ''} type="text" />;
  if (type === 'image' || type === 'audio')
    return <Media base64={str(block['data']) ?? ''} type={str(block['mimeType']) ?? ''} name={name} />;
  if (type === 'resource_link') return <Link block={block} onRead={onRead} />;
  if (type === 'resource')
    return <Resource of={isBlock(block['resource']) ? block['resource'] : block} name={name} />;
  const raw = tryRaw(JSON.stringify(block));
  return (
    <div>
      <p class="block-head soft">{plain(type, 60)}</p>
      {raw && <JsonTree raw={raw} label="content" />}
    </div>
  );
}

export function TextBlock({ text, type }: { readonly text: string; readonly type: string }) {
  const raw = /^\s*[[{]/.test(text) && text.length < 1_000_000 ? tryRaw(text) : undefined;
  const [isTree, setTree] = useState(false);
  return (
    <div class="block">
      <div class="block-head">
        <span class="soft">{`${plain(type, 60)} · ${size(new Blob([text]).size)}`}</span>
        {raw && (
          <Button kind="quiet" pressed={isTree} onClick={() => setTree(!isTree)}>
            As a tree
          </Button>
        )}
        <CopyButton text={() => text} />
      </div>
      {isTree && raw ? (
        <JsonTree raw={raw} label="text as JSON" />
      ) : (
        <pre class="text">
          <Text of={text} max={20_000} />
        </pre>
      )}
    </div>
  );
}

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']);
const SOUNDS = new Set([
  'audio/mpeg',
  'audio/wav',
  'audio/x-wav',
  'audio/ogg',
  'audio/webm',
  'audio/mp4',
  'audio/aac',
  'audio/flac',
]);

/** Images and sounds of known types, from the bytes of the message. An SVG in `img` runs no script and loads nothing. */
function Media({
  base64,
  type,
  name,
}: {
  readonly base64: string;
  readonly type: string;
  readonly name: string;
}) {
  const bytes = decode(base64);
  const essence = type.toLowerCase().split(';')[0]!.trim();
  const url = useBlob(bytes, IMAGES.has(essence) || SOUNDS.has(essence) ? essence : undefined);
  return (
    <div class="block">
      <div class="block-head">
        <span class="soft">{`${plain(type === '' ? 'no type' : type, 60)} · ${bytes ? size(bytes.length) : 'not base64'}`}</span>
        {bytes && (
          <Button kind="quiet" onClick={() => saveBytes(new Blob([bytes]), name)}>
            Save
          </Button>
        )}
      </div>
      {url && IMAGES.has(essence) && <img class="shown" src={url} alt={`Content of type ${essence}`} />}
      {url && SOUNDS.has(essence) && (
        // biome-ignore lint/a11y/useMediaCaption: what a server sends has none
        <audio controls src={url} aria-label={`Sound of type ${essence}`} />
      )}
      {!url && bytes && <p class="soft">This type is not shown. Save it to look at it.</p>}
    </div>
  );
}

function Link({ block, onRead }: { readonly block: Block; readonly onRead: ContentProps['onRead'] }) {
  const uri = str(block['uri']) ?? '';
  return (
    <div class="block">
      <div class="block-head">
        <span class="soft">link to a resource</span>
        {onRead && (
          <Button kind="quiet" onClick={() => onRead(uri)}>
            Read it
          </Button>
        )}
      </div>
      <p>
        <strong>
          <Text of={str(block['title']) ?? str(block['name']) ?? ''} max={200} />
        </strong>{' '}
        <Address url={uri} open={false} />
      </p>
      {str(block['description']) !== undefined && (
        <p class="soft">
          <Text of={str(block['description'])!} max={500} />
        </p>
      )}
    </div>
  );
}

/** The contents of a resource: text, or bytes. HTML is shown as its source first. */
function Resource({ of, name }: { readonly of: Block; readonly name: string }) {
  const type = str(of['mimeType']) ?? '';
  const text = str(of['text']);
  const [isPreview, setPreview] = useState(false);
  const isHtml = text !== undefined && /html/i.test(type);
  return (
    <div>
      <p class="block-head">
        <Address url={str(of['uri']) ?? ''} open={false} />
        {isHtml && (
          <Button kind="quiet" pressed={isPreview} onClick={() => setPreview(!isPreview)}>
            Preview without scripts
          </Button>
        )}
      </p>
      {isPreview && text !== undefined ? (
        <Preview html={text} />
      ) : text !== undefined ? (
        <TextBlock text={text} type={type === '' ? 'text' : type} />
      ) : (
        <Media base64={str(of['blob']) ?? ''} type={type} name={name} />
      )}
    </div>
  );
}

/** The policy of this page holds in the frame, too: no script runs, and nothing is loaded. */
function Preview({ html }: { readonly html: string }) {
  const url = useBlob(new TextEncoder().encode(html), 'text/html');
  return url ? (
    <iframe class="preview" sandbox="" src={url} title="Preview of the HTML, without scripts" />
  ) : null;
}

function useBlob(bytes: Uint8Array<ArrayBuffer> | undefined, type: string | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  const length = bytes?.length ?? 0;
  useEffect(() => {
    if (!bytes || type === undefined || length === 0) return;
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [length, type]);
  return url;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function str(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
