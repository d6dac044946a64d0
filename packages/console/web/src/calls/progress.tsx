import type { ProgressView } from '../../../src/contract.js';
import { Text } from '../parts/text.js';

export function Progress({ progress: { progress, total, message } }: { readonly progress: ProgressView }) {
  const share = total !== undefined && total > 0 ? Math.min(1, progress / total) : undefined;
  return (
    <span class="progress">
      <progress aria-label="Progress of the call" {...(share !== undefined && { value: share })} />
      <span class="nowrap">{share === undefined ? progress : `${Math.round(share * 100)} %`}</span>
      {message !== undefined && (
        <span class="soft">
          <Text of={message} max={200} />
        </span>
      )}
    </span>
  );
}
