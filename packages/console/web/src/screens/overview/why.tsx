import type { EraName, VerdictView } from '../../../../src/contract.js';
import { span } from '../../parts/format.js';
import { Panel } from '../../parts/layout.js';
import { Text } from '../../parts/text.js';
import { to } from '../../state/route.js';

/** For those who do not know eras. The steps below have what was said. */
const ASKED: Readonly<Record<EraName, string>> = {
  legacy:
    'It was asked server/discover, which every modern server answers. It did not answer as one, so it was greeted in the legacy way.',
  modern: 'It was asked server/discover, which only modern servers know, and it answered.',
};

/** How the era was found, step by step, each with the frames that show it. */
export function Why({ verdict }: { readonly verdict: VerdictView }) {
  return (
    <Panel
      title={`Why ${verdict.era}?`}
      side={
        <span class="soft">
          {verdict.source === 'mode' ? 'It was required.' : `It took ${span(verdict.ms)}.`}
        </span>
      }
    >
      <p>{verdict.source === 'probe' ? ASKED[verdict.era] : <Text of={verdict.why} />}</p>
      <ol class="steps">
        {verdict.steps.map(({ say, frames }, at) => (
          <li key={at}>
            <span>
              <Text of={say} max={600} />
            </span>
            {frames.length > 0 && (
              <span class="step-frames">
                {frames.map((seq) => (
                  <a key={seq} href={to('frame', seq)}>
                    {`frame ${seq}`}
                  </a>
                ))}
              </span>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
