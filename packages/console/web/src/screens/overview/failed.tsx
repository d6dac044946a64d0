import { useState } from 'preact/hooks';
import type { ConnectionProblem, ConnectionView } from '../../../../src/contract.js';
import { ask } from '../../api.js';
import { Button, CopyButton } from '../../parts/controls.js';
import { Panel } from '../../parts/layout.js';
import { Problem } from '../../parts/states.js';
import { Text } from '../../parts/text.js';
import { to } from '../../state/route.js';
import { may } from '../../state/session.js';

/** What it most likely is. A finding that only says again what happened is left out. */
export function likelyIn({
  message,
  likely,
}: Pick<ConnectionProblem, 'message' | 'likely'>): ConnectionProblem['likely'] {
  const isNews = (each: ConnectionProblem['likely'][number]) =>
    each.advice !== '' || !(each.code === 'exits' || each.message.includes(message));
  return likely.filter(isNews);
}

/** One of the likely reasons, with what to do. What can be pasted into the command line can be copied. */
function Likely({ code, message, advice }: ConnectionProblem['likely'][number]) {
  const option = /--[a-z][\w-]*(?: [^\s,;]+)?/.exec(advice)?.[0];
  return (
    <>
      <div>
        <dt>Most likely</dt>
        <dd>
          <Text of={message} /> <code class="code">{code}</code>
        </dd>
      </div>
      {advice !== '' && (
        <div>
          <dt>What to do</dt>
          <dd>
            <Text of={advice} />
            {option !== undefined && (
              <CopyButton text={() => option}>
                Copy <code>{option}</code>
              </CopyButton>
            )}
          </dd>
        </div>
      )}
    </>
  );
}

/** It does not connect: what happened, what it most likely is, what to do, its last lines, and the frames. */
export function Failed({
  connection,
  problem,
}: {
  readonly connection: ConnectionView;
  readonly problem: ConnectionProblem;
}) {
  const [isTrying, setTrying] = useState(false);
  const [error, setError] = useState<unknown>();
  const [first] = connection.frames;
  const again = async () => {
    setTrying(true);
    setError(undefined);
    try {
      await ask('PUT connection', { body: await ask('GET connection', {}) });
    } catch {
      // The connection shows why.
    }
    setTrying(false);
  };
  return (
    <Panel title="It is not connected" tone="fail" label="Why it is not connected">
      <p class="failed-message" role="alert">
        <Text of={problem.message} />
      </p>
      <dl class="facts">
        {likelyIn(problem).map(({ code, message, advice }) => (
          <Likely key={code} {...{ code, message, advice }} />
        ))}
        {problem.evidence.length > 0 && (
          <div>
            <dt>What was tried</dt>
            <dd>
              <ul class="plain-list">
                {problem.evidence.map((each, at) => (
                  <li key={at}>
                    <Text of={each} max={600} />
                  </li>
                ))}
              </ul>
            </dd>
          </div>
        )}
      </dl>
      {problem.stderr.length > 0 && (
        <>
          <h3>Its last lines on stderr</h3>
          <pre class="bytes">
            <Text of={problem.stderr.join('\n')} max={8000} />
          </pre>
        </>
      )}
      <div class="actions start">
        {may('act') && (
          <Button kind="primary" disabled={isTrying} onClick={again}>
            {isTrying ? 'Connecting …' : connection.transport === 'stdio' ? 'Start again' : 'Try again'}
          </Button>
        )}
        {first > 0 && <a href={to('frame', first)}>See the frames</a>}
        <a href={to('logs')}>See the logs</a>
      </div>
      <Problem error={error} />
    </Panel>
  );
}
