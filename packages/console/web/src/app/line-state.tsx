import { Button } from '../parts/controls.js';
import { age } from '../parts/format.js';
import { Text } from '../parts/text.js';
import { retryNow } from '../state/feed.js';
import { hello, isGateway, line } from '../state/session.js';
import { now } from '../state/time.js';

/** The process is gone: what is shown is of before. */
export function LineState() {
  const state = line.value;
  if (state.state === 'open' || state.state === 'opening') return null;
  void now.value;
  const command = isGateway() ? 'isthmus serve' : 'isthmus inspect';
  return (
    <div class="line-state" role="alert">
      <p>
        <strong>
          {state.state === 'ended' ? 'The process has ended.' : 'The line to the process broke.'}
        </strong>{' '}
        <Text of={state.why} max={200} />. What you see is {age(Date.now() - state.since)} old.
      </p>
      <p>
        {`The page asks again in ${Math.max(0, Math.ceil((state.retryAt - Date.now()) / 1000))} s. If it was ${command}${hello.value?.target ? ` of ${hello.value.target.label.slice(0, 80)}` : ''} that you ended, start it again and open the link that it prints.`}{' '}
        <Button onClick={retryNow}>Ask now</Button>
      </p>
    </div>
  );
}
