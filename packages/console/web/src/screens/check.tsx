import { useEffect, useState } from 'preact/hooks';
import type { CheckCatalogue, CheckProgress } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, Check, Select } from '../parts/controls.js';
import { Head, Panel } from '../parts/layout.js';
import { Empty, Problem } from '../parts/states.js';
import { Text } from '../parts/text.js';
import { has, may } from '../state/session.js';
import { checks } from '../state/store.js';
import { Findings } from './findings.js';

/** The referee: some hundred rules of the specification, with its findings as they come. */
export function CheckScreen() {
  const [catalogue, setCatalogue] = useState<CheckCatalogue | undefined>();
  const [error, setError] = useState<unknown>();
  const [suite, setSuite] = useState('');
  const [callTools, setCallTools] = useState(false);
  const run = checks.all.value.at(-1);
  useEffect(() => {
    if (has('check')) ask('GET checks', {}).then(setCatalogue, setError);
  }, []);
  const begin = async () => {
    setError(undefined);
    try {
      await ask('POST checks', { body: { callTools, ...(suite !== '' && { suites: [suite] }) } });
    } catch (caught) {
      setError(caught);
    }
  };
  if (!has('check'))
    return (
      <div class="stack">
        <Head title="Check" />
        <Empty title="Nothing can be checked here.">
          A file of frames has no server. Run isthmus inspect on the server itself.
        </Empty>
      </div>
    );
  return (
    <div class="stack wide-gap">
      <Head
        title="Check"
        sub="Does the server follow the specification? Every finding has its rule, its wire, and how to mend it."
      />
      <Panel label="Begin a check">
        {catalogue?.startsCopies && (
          <p class="soft">
            The referee starts copies of the command of its own. This connection stays as it is.
          </p>
        )}
        <div class="call-bar bare">
          <Button kind="primary" disabled={run?.state === 'running' || !may('act')} onClick={begin}>
            Check the server
          </Button>
          <Select
            label="Suite"
            value={suite}
            onChange={setSuite}
            choices={[
              { value: '', say: 'all suites' },
              ...(catalogue?.suites ?? []).map(({ name, checks: number }) => ({
                value: name,
                say: `${name} (${number})`,
              })),
            ]}
          />
          <Check checked={callTools} onChange={setCallTools}>
            also call tools that may change something
          </Check>
        </div>
        <Problem error={error} />
      </Panel>
      {run ? <Run key={run.id} run={run} onError={setError} /> : <NotChecked catalogue={catalogue} />}
    </div>
  );
}

function NotChecked({ catalogue }: { readonly catalogue: CheckCatalogue | undefined }) {
  const checks = catalogue?.suites.reduce((sum, suite) => sum + suite.checks, 0);
  return (
    <Empty title="It was not checked yet.">
      Press Check the server. {checks !== undefined && `It runs ${checks} checks. `}Findings come here while
      it runs, and you can go on with other screens.
    </Empty>
  );
}

const COUNTED = ['fail', 'error', 'warn', 'accepted', 'skip', 'pass'] as const;

function Run({ run, onError }: { readonly run: CheckProgress; readonly onError: (error: unknown) => void }) {
  const share = run.of > 0 ? run.done / run.of : undefined;
  return (
    <>
      <Panel
        label="State of the check"
        title={run.grade === undefined ? `Check ${run.id}` : `Grade ${run.grade}`}
        side={
          <>
            <span class="soft">{run.state === 'running' ? `${run.done} of ${run.of}` : run.state}</span>
            {run.state === 'running' && may('act') && (
              <Button
                kind="quiet"
                onClick={() => ask('DELETE checks/:id', { path: [run.id] }).catch(onError)}
              >
                Stop
              </Button>
            )}
          </>
        }
      >
        {run.state === 'running' && (
          <progress
            class="full"
            aria-label="Progress of the check"
            {...(share !== undefined && { value: share })}
          />
        )}
        <ul class="tiles">
          {COUNTED.map((outcome) => (
            <li key={outcome} class={`tile ${outcome} ${(run.counts[outcome] ?? 0) === 0 ? 'none' : ''}`}>
              <span class="tile-number">{run.counts[outcome] ?? 0}</span>
              <span>{outcome}</span>
            </li>
          ))}
        </ul>
        {run.problem !== undefined && (
          <p class="field-advice">
            <Text of={run.problem} />
          </p>
        )}
      </Panel>
      <Findings run={run} />
    </>
  );
}
