/** The pages have every command, option and variable, and every option of other programs. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { serveCommand } from '../../src/commands/serve.js';
import { MCP_REMOTE } from '../../src/compat/mcp-remote.js';
import { SERVE_FLAGS } from '../../src/compat/to-our-options.js';
import { isthmus } from '../support/isthmus.js';

const page = (name: string) => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');
const CLI = page('cli.md');
const MOVING = page('moving.md');

it('docs/cli.md has every option of serve, and every variable', () => {
  const missing = serveCommand(undefined).options.flatMap(({ long, short, envVar }) => [
    ...(new RegExp(`^\\| \`${short ? `${short}, ` : ''}${long}[ \`]`, 'm').test(CLI) ? [] : [long]),
    ...(envVar === undefined || CLI.includes(`\`${envVar}\``) ? [] : [envVar]),
  ]);
  expect(missing).toEqual([]);
});

it('docs/cli.md has every command', async () => {
  const { stdout } = await isthmus('--help');
  const [, list = ''] = /\nServe:\n(.*)\nExamples:/s.exec(stdout) ?? [];
  const names = [...list.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(12);
  const [, overview = ''] = /```\n(.*?)```/s.exec(CLI) ?? [];
  const known = overview.split('\n').flatMap((line) => line.split(/[ |]/).slice(1, 7));
  expect(names.filter((name) => name !== 'help' && !known.includes(name))).toEqual([]);
});

it('docs/moving.md has every option of other programs', () => {
  const flags = [...Object.keys(SERVE_FLAGS), ...Object.keys(MCP_REMOTE)];
  const names = flags.map((name) =>
    name.replace(/(?<!^no)-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  );
  const isThere = (name: string) => new RegExp(`(^|[^\\w-])--?${name}\\b`).test(MOVING);
  expect(flags.filter((name, at) => !isThere(name) && !isThere(names[at]!))).toEqual([]);
});
