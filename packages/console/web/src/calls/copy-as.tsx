import { useState } from 'preact/hooks';
import type { SnippetRequest } from '../../../src/contract.js';
import { CopyButton } from '../parts/controls.js';
import { snippet } from '../state/calls.js';

const KINDS: readonly { readonly kind: SnippetRequest['kind']; readonly say: string }[] = [
  { kind: 'cli', say: 'Command' },
  { kind: 'test', say: 'Test' },
  { kind: 'config', say: 'Client config' },
  { kind: 'curl', say: 'curl' },
  { kind: 'json', say: 'JSON-RPC' },
];

/** The same call elsewhere: as a command, a test, an entry of a client. Secrets are names of variables. */
export function CopyAs({
  call,
  method,
  params,
  server,
}: {
  readonly call?: number;
  readonly method?: string;
  readonly params?: () => string;
  readonly server?: string | undefined;
}) {
  const [needs, setNeeds] = useState<readonly string[]>([]);
  const text = async (kind: SnippetRequest['kind']) => {
    const which =
      call === undefined ? { ...(method !== undefined && { method }), params: params?.() ?? '{}' } : { call };
    const made = await snippet({ kind, ...which, ...(server !== undefined && { server }) });
    setNeeds(made.needs);
    return made.text;
  };
  return (
    <details class="menu">
      <summary>Copy as</summary>
      <div class="menu-items">
        {KINDS.map(({ kind, say }) => (
          <CopyButton key={kind} text={() => text(kind)}>
            {say}
          </CopyButton>
        ))}
        {needs.length > 0 && <p class="soft">{`Set ${needs.join(', ')} first.`}</p>}
      </div>
    </details>
  );
}
