import { readFile } from 'node:fs/promises';
import * as main from '@isthmus/sdk';
import * as host from '@isthmus/sdk/host';
import { expect, it } from 'vitest';

it('N3: every function that docs/config.md names is exported', async () => {
  const page = await readFile(new URL('../../docs/config.md', import.meta.url), 'utf8');
  const code = [...page.matchAll(/```ts\n(.*?)```|`([^`\n]+)`/gs)].map(
    ([, block, span]) => block ?? span ?? '',
  );
  const called = code.flatMap((each) =>
    [...each.matchAll(/(?<![.\w])([a-z]\w*)\(/g)].map(([, name]) => name!),
  );
  const named = code.filter((each) => /^(?:read|require|watch|describe|known|allows)[A-Z]\w*$/.test(each));
  const functions = [...new Set([...called, ...named])].sort();
  expect(functions).toEqual([
    ...[
      'allowsTool',
      'createHost',
      'describeProblem',
      'knownFiles',
      'readServers',
      'requireServers',
      'watchServers',
    ],
  ]);
  for (const module of [main, host] as readonly Record<string, unknown>[]) {
    expect(functions.filter((name) => typeof module[name] !== 'function')).toEqual([]);
  }
});
