import { useState } from 'preact/hooks';
import type { ConnectionProblem, ConnectionView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, CopyButton } from '../parts/controls.js';
import { Panel } from '../parts/layout.js';
import { Problem } from '../parts/states.js';
import { Text } from '../parts/text.js';
import { to } from '../state/route.js';
import { may } from '../state/session.js';

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
      {problem.likely.map(({ code, message, advice }) => (
        <dl class="facts" key={code}>
          <div>
            <dt>Most likely</dt>
            <dd>
              <code>{code}</code> <Text of={message} />
            </dd>
          </div>
          {advice !== '' && (
            <div>
              <dt>Do</dt>
              <dd>
                <Text of={advice} /> <CopyButton text={() => advice} />
              </dd>
            </div>
          )}
        </dl>
      ))}
      {problem.evidence.length > 0 && (
        <ul class="plain-list soft">
          {problem.evidence.map((each, at) => (
            <li key={at}>
              <Text of={each} max={600} />
            </li>
          ))}
        </ul>
      )}
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
            {isTrying ? 'Connecting …' : 'Start again'}
          </Button>
        )}
        {first > 0 && <a href={to('frame', first)}>See the frames</a>}
        <a href={to('logs')}>See the logs</a>
      </div>
      <Problem error={error} />
    </Panel>
  );
}
