import { useEffect, useState } from 'preact/hooks';
import type { CheckProgress, FindingView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, CopyButton, Filter, Select } from '../parts/controls.js';
import { Era } from '../parts/era.js';
import { plural } from '../parts/format.js';
import { Panel } from '../parts/layout.js';
import { Empty } from '../parts/states.js';
import { Text } from '../parts/text.js';
import { may } from '../state/session.js';
import { findings } from '../state/store.js';

const ORDER = ['fail', 'error', 'warn', 'accepted', 'skip', 'pass'];
const SIGNS: Readonly<Record<string, string>> = {
  fail: '✕',
  error: '!',
  warn: '⚠',
  accepted: '≈',
  skip: '–',
  pass: '✓',
};

/** The findings of a run, the gravest first. */
export function Findings({ run }: { readonly run: CheckProgress }) {
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState('bad');
  useEffect(() => {
    // A page that was opened later has not heard the findings of before.
    ask('GET checks/:id', { path: [run.id] }).then(
      ({ findings: all }) => {
        for (const finding of all)
          findings.set(`${run.id} ${finding.era ?? ''} ${finding.id}`, { run: run.id, finding });
      },
      () => {},
    );
  }, [run.id, run.state]);
  const shown = findingsOf(run.id)
    .filter((finding) => fits(finding, text.toLowerCase(), outcome))
    .sort((one, other) => ORDER.indexOf(one.outcome) - ORDER.indexOf(other.outcome));
  return (
    <Panel title="Findings" side={<span class="soft">{plural(shown.length, 'finding')}</span>}>
      <div class="filter-bar">
        <Filter label="Filter by title, id or rule" value={text} onInput={setText} />
        <Select
          label="Outcome"
          value={outcome}
          onChange={setOutcome}
          choices={[
            { value: 'bad', say: 'fail, error, warn' },
            { value: '', say: 'all' },
            ...ORDER.map((value) => ({ value, say: value })),
          ]}
        />
      </div>
      {shown.length === 0 && (
        <Empty title={run.state === 'running' ? 'None so far.' : 'None of these.'}>
          {outcome === 'bad' &&
            run.state !== 'running' &&
            'Nothing fails. Choose “all” to see what was checked.'}
        </Empty>
      )}
      <ul class="findings">
        {shown.slice(0, 300).map((finding) => (
          <li key={`${finding.era} ${finding.id}`}>
            <Finding finding={finding} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Finding({ finding }: { readonly finding: FindingView }) {
  const { id, title, era, outcome, level, rules, seen, mend, wire, again } = finding;
  return (
    <details>
      <summary>
        <span
          class={`badge ${outcome === 'accepted' ? 'info' : outcome === 'skip' ? 'soft' : outcome}`}
        >{`${SIGNS[outcome]} ${outcome}`}</span>
        {level !== undefined && <span class="soft">{level}</span>}
        <span class="finding-title">
          <Text of={title} max={300} />
        </span>
        {era && <Era era={era} />}
      </summary>
      <dl class="facts">
        <div>
          <dt>check</dt>
          <dd>
            <code>{id}</code> {rules.length > 0 && <span class="soft">{rules.join(', ')}</span>}
          </dd>
        </div>
        {seen !== undefined && (
          <div>
            <dt>seen</dt>
            <dd>
              <Text of={seen} max={2000} />
            </dd>
          </div>
        )}
        {mend !== undefined && (
          <div>
            <dt>mend</dt>
            <dd>
              <Text of={mend} max={2000} />
            </dd>
          </div>
        )}
        <div>
          <dt>again</dt>
          <dd>
            <code>
              <Text of={again} max={500} />
            </code>{' '}
            <CopyButton text={() => again} />
            {may('act') && (
              <Button
                kind="quiet"
                onClick={() => ask('POST checks', { body: { only: [id] } }).catch(() => {})}
              >
                Run this one
              </Button>
            )}
          </dd>
        </div>
      </dl>
      {wire !== undefined && wire.length > 0 && (
        <pre class="bytes">
          <Text of={wire.join('\n')} max={8000} />
        </pre>
      )}
    </details>
  );
}

function fits({ title, id, rules, outcome }: FindingView, text: string, wanted: string): boolean {
  if (wanted === 'bad' ? !['fail', 'error', 'warn'].includes(outcome) : wanted !== '' && outcome !== wanted)
    return false;
  return text === '' || `${title} ${id} ${rules.join(' ')}`.toLowerCase().includes(text);
}

function findingsOf(run: number): FindingView[] {
  return findings.all.value.filter((each) => each.run === run).map(({ finding }) => finding);
}
