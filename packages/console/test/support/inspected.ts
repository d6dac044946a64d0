import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import { onTestFinished } from 'vitest';
import type { InspectOptions } from '../../src/inspect/inspect-options.js';
import { type InspectConsole, openInspect } from '../../src/inspect/open-inspect.js';
import { ConsoleClient } from './console-client.js';

export interface Inspected {
  readonly console: InspectConsole;
  readonly client: ConsoleClient;
}

/** A console of one server, connected, and a client that has entered. Both end with the test. */
export async function inspect(
  connector: (tap: Tap) => Connector,
  more: Partial<InspectOptions> = {},
): Promise<Inspected> {
  const console = await openInspect({
    target: { label: 'a server', kind: 'command' },
    connector: async (tap) => connector(tap),
    settings: {
      mode: 'auto',
      asks: { forms: true, urls: true, sampling: true, roots: true },
      roots: [{ uri: 'file:///project' }],
    },
    redactor: {
      text: (text) => text.replaceAll('hush', '[redacted]'),
      json: (line) => line.replaceAll('hush', '[redacted]'),
    },
    explain: (error, stderr) => ({ message: messageOf(error), likely: [], evidence: [], stderr }),
    judge: async () => [],
    warnings: () => [],
    snippet: async ({ kind, method, args }) => ({ text: `${kind} ${method} ${args}`, needs: [] }),
    say: () => {},
    ...more,
  });
  onTestFinished(() => console.close());
  await console.connect();
  return { console, client: await ConsoleClient.enter(console.link()) };
}
