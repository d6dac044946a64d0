import { Empty, Problem } from '../../parts/states.js';
import { plain } from '../../parts/text.js';
import { to } from '../../state/route.js';

/** Why a list could not be read, and where its server says more. */
export function ListProblem({
  title,
  error,
  server,
}: {
  /** Of the screen, which may have nothing else. */
  readonly title: string;
  readonly error: unknown;
  readonly server: string | undefined;
}) {
  if (error === undefined) return null;
  const [address, words] =
    server === undefined
      ? [to(), 'See the overview']
      : [to('server', server), `See the state of ${plain(server, 60)}, and what to do`];
  return (
    <div class="stack">
      <h1 tabIndex={-1}>{title}</h1>
      <Problem error={error}>
        <p>
          <a href={address}>{words}</a>
        </p>
      </Problem>
    </div>
  );
}

/** No item of a list has the text. */
export function NoHit({ what, onClear }: { readonly what: string; readonly onClear: () => void }) {
  return (
    <Empty title={`No ${what} has this in its name.`}>
      <button type="button" onClick={onClear}>
        Clear the filter
      </button>
    </Empty>
  );
}

/** An address names what the list does not have. */
export function Gone({ what, name }: { readonly what: string; readonly name: string }) {
  return (
    <Empty isScreen title={`There is no ${what} ${plain(name, 80)}.`}>
      It may have been removed. Read the list again.
    </Empty>
  );
}
