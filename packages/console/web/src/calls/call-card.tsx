import { useEffect, useState } from 'preact/hooks';
import type { CallRow } from '../../../src/contract.js';
import { Button } from '../parts/controls.js';
import { Era } from '../parts/era.js';
import { age, clock, exact, span } from '../parts/format.js';
import { Loading, Problem } from '../parts/states.js';
import { plain, Text } from '../parts/text.js';
import { useKeys } from '../parts/use-keys.js';
import { QuestionCard } from '../questions/question-card.js';
import { beginCall, cancelCall, detailOf, snippet } from '../state/calls.js';
import { go, to } from '../state/route.js';
import { has, isGateway, may } from '../state/session.js';
import { calls, questions } from '../state/store.js';
import { now } from '../state/time.js';
import { CopyAs } from './copy-as.js';
import { Outcome } from './outcome.js';
import { Progress } from './progress.js';
import { Result } from './result.js';

export interface CallCardProps {
  readonly id: number;
  /** Puts the arguments of the call into the form. */
  readonly onEdit?: ((params: string) => void) | undefined;
  readonly onAgain?: ((id: number) => void) | undefined;
}

/** One call, from its beginning to its result, with its questions beside it. */
export function CallCard({ id, onEdit, onAgain }: CallCardProps) {
  const row = calls.get(id);
  const { detail, error } = detailOf(id).value;
  const [problem, setProblem] = useState<unknown>();
  const known = row ?? detail;
  const isOver = known?.state === 'done';
  const open = questions.all.value.filter((question) => question.call === id);
  const attempt = (action: () => Promise<unknown>) => action().then(() => setProblem(undefined), setProblem);
  const cancel = () => attempt(() => cancelCall(id));
  const again = (lens?: boolean) =>
    attempt(async () => {
      if (detail?.params === undefined) return;
      const { method, params, server } = detail;
      const next = await beginCall({
        method,
        params,
        ...(server !== undefined && { server }),
        ...(lens && { lens }),
      });
      if (onAgain) onAgain(next);
      else go(lens ? to('call', next, 'lens') : to('call', next));
    });
  const canRepeat = may('act') && detail?.params !== undefined && isOver && (!isGateway() || detail.own);
  const canCopy = isOver && detail?.params !== undefined;
  const copy = () =>
    attempt(async () => navigator.clipboard.writeText((await snippet({ kind: 'cli', call: id })).text));
  useKeys([
    { keys: '.', say: 'Cancel the call', run: () => (isOver || !may('act') ? false : void cancel()) },
    { keys: 'r', say: 'Make the call again', run: () => (canRepeat ? void again(known?.lens) : false) },
    {
      keys: 'e',
      say: 'Edit the arguments of the call',
      run: () => (canRepeat && onEdit ? onEdit(detail!.params!) : false),
    },
    {
      keys: 'c',
      say: 'Copy the call as a command',
      run: () => (canCopy ? void copy() : false),
    },
  ]);
  if (!known)
    return error !== undefined ? <Problem error={error} /> : <Loading what={`Reading call ${id}`} />;
  return (
    <section class="call panel" aria-label={`Call ${id}`}>
      <header class="call-head">
        <h2>
          <a href={to('call', id)}>{`#${id}`}</a> <CallName row={known} />
        </h2>
        <Outcome row={known} />
        <Sides row={known} />
        <span class="soft" title={exact(known.began)}>
          {clock(known.began, false)}
        </span>
        <span class="call-actions">
          {canRepeat && (
            <Button kind="quiet" keys="r" onClick={() => again(known.lens)}>
              Again
            </Button>
          )}
          {canRepeat && onEdit && (
            <Button kind="quiet" keys="e" onClick={() => onEdit(detail!.params!)}>
              Edit
            </Button>
          )}
          {isOver && has('lens') && (detail?.frames.length ?? 0) > 0 && (
            <a class="button quiet" href={to('call', id, 'lens')}>
              {known.lens ? 'Lens' : 'Frames'}
            </a>
          )}
          {canCopy && <CopyAs call={id} />}
        </span>
      </header>
      {!isOver && <Running row={known} onCancel={cancel} />}
      {problem !== undefined && <Problem error={problem} />}
      {open.map((question) => (
        <QuestionCard key={question.id} question={question} />
      ))}
      {error !== undefined && <Problem error={error} />}
      {isOver && detail?.error && <Failure detail={detail} row={known} />}
      {detail?.result !== undefined && isOver && (
        <Result
          detail={detail}
          {...(may('act') && {
            onRead: (uri: string) =>
              void attempt(async () => {
                const params = JSON.stringify({ uri });
                const server = known.server === undefined ? {} : { server: known.server };
                go(to('call', await beginCall({ method: 'resources/read', params, ...server })));
              }),
          })}
        />
      )}
      {detail && <Around detail={detail} />}
    </section>
  );
}

export function CallName({ row }: { readonly row: CallRow }) {
  const name = row.tool ?? row.prompt ?? row.uri;
  return (
    <>
      {name !== undefined && <code>{plain(name, 80)}</code>}
      <span class="soft"> {plain(row.method)}</span>
    </>
  );
}

function Sides({ row }: { readonly row: CallRow }) {
  if (row.lens && row.client)
    return (
      <span class="nowrap">
        <Era era={row.client.era} /> → <Era era={row.upstream?.era} />
      </span>
    );
  return row.upstream ? <Era era={row.upstream.era} /> : null;
}

/** A cancel button that flashes by does not help: it comes after a second. `.` works at once. */
function Running({ row, onCancel }: { readonly row: CallRow; readonly onCancel: () => void }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 1000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="running">
      {row.progress ? <Progress progress={row.progress} /> : <span class="soft">{runningWords(row)}</span>}
      <span class="soft nowrap">{age(now.value - row.began)}</span>
      {isSlow && may('act') && (
        <Button keys="." onClick={onCancel}>
          Cancel
        </Button>
      )}
    </div>
  );
}

function runningWords({ state, place }: CallRow): string {
  if (state === 'waiting')
    return place === undefined ? 'It waits for a free place.' : `It waits, as number ${place}.`;
  return state === 'asking' ? 'It waits for an answer.' : 'It runs.';
}

/** Whether it is safe to make the call again. */
const SENT = {
  no: 'The server did not get the request. It can be made again.',
  maybe: 'The server may have got the request, and done what it asks for. Look before you make it again.',
} as const;

function Failure({
  detail,
  row,
}: {
  readonly detail: { readonly error?: { code: number | string; message: string; data?: unknown } };
  readonly row: CallRow;
}) {
  const { code, message, data } = detail.error!;
  return (
    <div class="problem">
      <p>
        <strong>
          <Text of={message} />
        </strong>
        <code class="code">{plain(String(code))}</code>
        {row.sent !== undefined && <span class="soft">{` sent: ${row.sent}`}</span>}
      </p>
      {row.sent !== undefined && <p>{SENT[row.sent]}</p>}
      {data !== undefined && (
        <pre>
          <Text of={JSON.stringify(data, null, 2)} />
        </pre>
      )}
    </div>
  );
}

function Around({
  detail,
}: {
  readonly detail: NonNullable<ReturnType<typeof detailOf>['value']['detail']>;
}) {
  const answered = detail.questions.filter(({ over }) => over);
  if (answered.length === 0 && detail.logs.length === 0) return null;
  return (
    <details class="around">
      <summary>
        {[
          answered.length > 0 && `${answered.length} answered`,
          detail.logs.length > 0 && `${detail.logs.length} log lines`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </summary>
      <ul>
        {answered.map((question) => (
          <li key={`q${question.id}`}>
            <span class="soft">{`${question.kind} ${question.over!.why} `}</span>
            {question.answer !== undefined && (
              <code>
                <Text of={question.answer} max={300} />
              </code>
            )}
            <span class="soft">{` after ${span(question.over!.at - question.since)}`}</span>
          </li>
        ))}
        {detail.logs.map((log) => (
          <li key={`l${log.number}`}>
            <span class="soft">{`${clock(log.at)} ${log.level ?? log.source} `}</span>
            <Text of={log.text} max={500} />
          </li>
        ))}
      </ul>
    </details>
  );
}
