import { useEffect, useState } from 'preact/hooks';
import type { FrameView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { pretty } from '../json/print.js';
import { tryRaw } from '../json/raw.js';
import { Button, CopyButton, Segments } from '../parts/controls.js';
import { Era } from '../parts/era.js';
import { clock, exact, size } from '../parts/format.js';
import { JsonTree } from '../parts/json-tree.js';
import { Badge, Loading, Problem } from '../parts/states.js';
import { plain, Text } from '../parts/text.js';
import { useKeys } from '../parts/use-keys.js';
import { to } from '../state/route.js';
import { has, may } from '../state/session.js';
import { connections } from '../state/store.js';
import { FrameSend, sendAgain } from './frame-send.js';

/** One frame: as a tree, as its exact bytes, with the headers of HTTP, and what it belongs to. */
export function FramePane({
  seq,
  onChoose,
  onClose,
}: {
  readonly seq: number;
  readonly onChoose: (seq: number) => void;
  readonly onClose: () => void;
}) {
  const [state, setState] = useState<{ readonly frame?: FrameView; readonly error?: unknown }>({});
  useEffect(() => {
    let isOver = false;
    ask('GET frames/:seq', { path: [seq] }).then(
      (frame) => isOver || setState({ frame }),
      (error) => isOver || setState({ error }),
    );
    return () => {
      isOver = true;
    };
  }, [seq]);
  const { frame, error } = state;
  return (
    <section class="frame" aria-label={`Frame ${seq}`}>
      {error !== undefined && <Problem error={error} />}
      {!frame && error === undefined && <Loading what={`Reading frame ${seq}`} />}
      {frame && <Shown {...{ frame, onChoose, onClose }} key={frame.seq} />}
    </section>
  );
}

type View = 'tree' | 'pretty' | 'exact' | 'headers';

function Shown({
  frame,
  onChoose,
  onClose,
}: {
  readonly frame: FrameView;
  readonly onChoose: (seq: number) => void;
  readonly onClose: () => void;
}) {
  const raw = frame.text.length <= MAX_TREE ? tryRaw(frame.text) : undefined;
  const [view, setView] = useState<View>(
    raw ? 'tree' : frame.text === '' && frame.http ? 'headers' : 'exact',
  );
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const connection = connections.get(frame.connection);
  const isSendable =
    frame.direction === 'to-server' &&
    connection?.side === 'upstream' &&
    raw &&
    may('act') &&
    has('exact-bytes');
  const isRequest = isSendable && frame.kind === 'request';
  const again = () => sendAgain(raw!).then(() => setProblem(undefined), setProblem);
  const move = async (by: -1 | 1) => {
    const next = await neighbour(frame, by);
    if (next !== undefined) onChoose(next);
  };
  useKeys([
    { keys: '[', say: 'The frame before, of the same call', run: () => void move(-1) },
    { keys: ']', say: 'The next frame of the same call', run: () => void move(1) },
    { keys: 'r', say: 'Send this request again', run: () => (isRequest ? void again() : false) },
    { keys: 'c', say: 'Copy the frame', run: () => void navigator.clipboard.writeText(frame.text) },
    { keys: 'e', say: 'Edit and send this frame', run: () => (isSendable ? setSending(true) : false) },
  ]);
  const links = [
    frame.answers !== undefined && { say: `answers ${frame.answers}`, seq: frame.answers },
    frame.answeredBy !== undefined && { say: `answered by ${frame.answeredBy}`, seq: frame.answeredBy },
    ...(frame.other ?? []).map((seq) => ({ say: `other side ${seq}`, seq })),
  ].filter((each) => each !== false);
  return (
    <>
      <header class="frame-head">
        <h2>
          {`Frame ${frame.seq}`}
          <span class="soft"> {frame.method === undefined ? frame.kind : plain(frame.method)}</span>
        </h2>
        <span class="soft nowrap" title={exact(frame.at)}>
          {clock(frame.at)}
        </span>
        <span class="soft">{frame.direction === 'to-server' ? 'to the server' : 'to the client'}</span>
        {connection && <Era era={connection.era} revision={connection.revision} />}
        <span class="soft">{size(frame.bytes)}</span>
        {frame.redacted && <span class="badge soft">redacted</span>}
        {frame.schema && (
          <Badge kind={frame.schema.length === 0 ? 'pass' : 'fail'}>
            {frame.schema.length === 0 ? 'schema ✓' : 'schema ✗'}
          </Badge>
        )}
        <span class="grow" />
        {frame.call !== undefined && <a href={to('call', frame.call)}>{`call #${frame.call}`}</a>}
        {links.map(({ say, seq }) => (
          <a key={say} href={to('frame', seq)}>
            {say}
          </a>
        ))}
        <Button kind="quiet" onClick={onClose}>
          Close
        </Button>
      </header>
      <div class="frame-bar">
        <Segments
          label="View of the frame"
          value={view}
          choices={[
            ...(raw
              ? ([
                  { value: 'tree', say: 'Tree' },
                  { value: 'pretty', say: 'Pretty' },
                ] as const)
              : []),
            { value: 'exact', say: 'Exact bytes' },
            ...(frame.http ? ([{ value: 'headers', say: 'HTTP' }] as const) : []),
          ]}
          onChange={setView}
        />
        <CopyButton text={() => frame.text}>Copy</CopyButton>
        {frame.call !== undefined && (
          <>
            <Button kind="quiet" keys="[" onClick={() => move(-1)}>
              Before
            </Button>
            <Button kind="quiet" keys="]" onClick={() => move(1)}>
              Next
            </Button>
          </>
        )}
        {isRequest && (
          <Button kind="quiet" keys="r" onClick={again}>
            Send again
          </Button>
        )}
        {isSendable && (
          <Button kind="quiet" keys="e" pressed={isSending} onClick={() => setSending(!isSending)}>
            Edit and send
          </Button>
        )}
      </div>
      <Problem error={problem} />
      {frame.problem !== undefined && (
        <p class="field-advice">
          Not a message: <Text of={frame.problem} />
        </p>
      )}
      {frame.schema && frame.schema.length > 0 && (
        <div class="field-advice">
          {`It does not fit the schema of ${connection?.revision ?? 'its revision'}:`}
          <ul>
            {frame.schema.map((problem) => (
              <li key={problem}>
                <Text of={problem} max={500} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {isSending && raw && <FrameSend raw={raw} text={frame.text} onDone={() => setSending(false)} />}
      {!isSending && view === 'tree' && raw && (
        <JsonTree raw={raw} open={3} label={`Frame ${frame.seq} as a tree`} />
      )}
      {!isSending && view === 'pretty' && raw && (
        <pre class="bytes">{<Text of={pretty(raw)} max={100_000} />}</pre>
      )}
      {!isSending && view === 'exact' && <Exact frame={frame} />}
      {!isSending && view === 'headers' && frame.http && <Http http={frame.http} />}
    </>
  );
}

const MAX_TREE = 4_000_000;

function Exact({ frame }: { readonly frame: FrameView }) {
  return (
    <>
      <pre class="bytes">
        <Text of={frame.text} max={100_000} />
      </pre>
      {frame.cut !== undefined && <p class="soft">{`${size(frame.cut)} more were not kept.`}</p>}
      {frame.base64 !== undefined && (
        <p class="soft">
          These bytes are not UTF-8. <CopyButton text={() => frame.base64!}>Copy as base64</CopyButton>
        </p>
      )}
      {frame.process && (
        <dl class="facts">
          {Object.entries(frame.process).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Http({ http }: { readonly http: NonNullable<FrameView['http']> }) {
  return (
    <div>
      <p>
        <code>
          {[http.method, http.path && plain(http.path, 500), http.status]
            .filter((each) => each !== undefined)
            .join(' ')}
        </code>
        {http.event !== undefined && <span class="soft"> event {plain(http.event)}</span>}
      </p>
      <dl class="facts mono">
        {http.headers.map(([name, value], at) => (
          <div key={at}>
            <dt>{plain(name)}</dt>
            <dd>
              <Text of={value} max={1000} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The frame before or after, of the same call. */
async function neighbour({ call, seq }: FrameView, by: -1 | 1): Promise<number | undefined> {
  if (call === undefined) return undefined;
  const { rows } = await ask('GET frames', { query: { call } });
  const seqs = rows.map((row) => row[0]);
  return by === 1 ? seqs.find((each) => each > seq) : seqs.findLast((each) => each < seq);
}
