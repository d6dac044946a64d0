/** What a shell offers when somebody presses the tab key. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ISTHMUS } from '../../../../test/support/child.js';
import { freeFolder } from '../support/isthmus.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
const scripts: Partial<Record<Shell, string>> = {};

beforeAll(() => {
  for (const shell of SHELLS) {
    scripts[shell] = execFileSync(process.execPath, [ISTHMUS, 'completion', shell], { encoding: 'utf8' });
  }
});

const isThere = (shell: Shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

/** Several lines at once, the word after the last blank being typed; what each is offered. */
function offered(shell: Shell, lines: readonly string[], cwd = process.cwd()): string[][] {
  const folder = freeFolder();
  mkdirSync(`${folder}/bin`);
  writeFileSync(`${folder}/bin/isthmus`, `#!/bin/sh\nexec "${process.execPath}" "${ISTHMUS}" "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(`${folder}/script`, scripts[shell]!);
  const env = { PATH: `${folder}/bin:${process.env['PATH']}`, HOME: folder, XDG_RUNTIME_DIR: folder };
  const program = PROGRAMS[shell](`${folder}/script`, lines);
  const ran = spawnSync(shell, ['-c', program], { encoding: 'utf8', env, cwd, timeout: 20_000 });
  expect(ran.stderr).toBe('');
  return ran.stdout
    .split('==\n')
    .slice(1)
    .map((each) => each.split('\n').filter(Boolean));
}

const PROGRAMS: Readonly<Record<Shell, (script: string, lines: readonly string[]) => string>> = {
  bash: (script, lines) => `source ${script}
compopt() { :; }
${lines
  .map((line) => {
    // As bash splits it: `=` is a word of its own.
    const words = line
      .replaceAll('=', ' = ')
      .split(' ')
      .map((word) => `'${word}'`);
    return `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _isthmus; echo '=='; printf '%s\\n' "\${COMPREPLY[@]}"`;
  })
  .join('\n')}`,
  // Whatever is offered is printed; it is zsh that leaves out what does not fit.
  zsh: (script, lines) => `compdef() { :; }
_describe() { local -a all; all=("\${(@P)2}"); print -l -- "\${(@)all%%:*}"; }
compadd() { shift; print -l -- "$@"; }
_files() { echo "files $*"; }
_command_names() { echo programs; }
source ${script}
${lines
  .map((line) => {
    const words = line.split(' ').map((word) => `'${word}'`);
    return `words=(${words.join(' ')}); CURRENT=${words.length}; echo '=='; _isthmus`;
  })
  .join('\n')}`,
  fish: (script, lines) => `source ${script}
${lines.map((line) => `echo '=='; complete -C '${line}' | string replace -r '\\t.*' ''`).join('\n')}`,
};

describe('bash', () => {
  it('completes commands, options and choices', () => {
    const [commands, control, options, short, choices, inline, none] = offered('bash', [
      'isthmus s',
      'isthmus config ',
      'isthmus serve --jwt-',
      'isthmus restart -',
      'isthmus serve --log-level ',
      'isthmus serve --processes=s',
      'isthmus serve --port ',
    ]);
    expect(commands).toEqual(['serve', 'status', 'stop', 'start']);
    expect(control).toEqual(['check', 'import', 'list', 'schema']);
    expect(options).toEqual([
      '--jwt-jwks',
      '--jwt-audience',
      '--jwt-issuer',
      '--jwt-scope',
      '--jwt-scope-claim',
      '--jwt-type',
    ]);
    expect(short).toEqual(expect.arrayContaining(['--socket', '-s', '--pid', '--json', '--help', '-h']));
    expect(choices).toEqual(['trace', 'debug', 'info', 'warn', 'error', 'silent']);
    expect(inline).toEqual(['shared']);
    expect(none).toEqual([]);
  });

  it('completes files, folders, programs after -- and names of servers, and runs nothing of what they say', () => {
    const folder = freeFolder();
    mkdirSync(`${folder}/sub`);
    const evil = '$(touch sub/ran)';
    const servers = { weather: { command: 'x' }, notes: { command: 'y' }, [evil]: { command: 'z' } };
    writeFileSync(`${folder}/mcp.json`, JSON.stringify({ mcpServers: servers }));
    const lines = [
      'isthmus serve --config m',
      'isthmus serve --cwd ',
      'isthmus serve -- bas',
      'isthmus attach --config mcp.json ',
      'isthmus list -c mcp.json w',
      'isthmus list -c mcp.json weather ',
    ];
    const [files, folders, programs, names, name, more] = offered('bash', lines, folder);
    expect(files).toEqual(['mcp.json']);
    expect(folders).toEqual(['sub']);
    expect(programs).toContain('bash');
    expect(names).toEqual(['notes', 'weather']);
    expect(name).toEqual(['weather']);
    expect(more).toEqual([]);
    expect(execFileSync('ls', [`${folder}/sub`], { encoding: 'utf8' })).toBe('');
  });
});

describe.skipIf(!isThere('zsh'))('zsh', () => {
  it('completes commands, options, choices, files and names of servers', () => {
    const folder = freeFolder();
    writeFileSync(`${folder}/mcp.json`, '{"mcpServers":{"weather":{"command":"x"}}}');
    const [commands, options, choices, files, names, behind] = offered(
      'zsh',
      [
        'isthmus config ',
        'isthmus restart --',
        'isthmus serve --log-format ',
        'isthmus serve --config ',
        'isthmus attach --config mcp.json ',
        'isthmus serve -- ',
      ],
      folder,
    );
    expect(commands).toEqual(['check', 'import', 'list', 'schema']);
    expect(options).toEqual(expect.arrayContaining(['--socket', '-s', '--pid', '--json', '--help']));
    expect(choices).toEqual(['pretty', 'json']);
    expect(files).toEqual(['files ']);
    expect(names).toEqual(['weather']);
    expect(behind).toEqual(['programs']);
  });
});

describe.skipIf(!isThere('fish'))('fish', () => {
  it('completes commands, options, choices, files and names of servers', () => {
    const folder = freeFolder();
    writeFileSync(`${folder}/mcp.json`, '{"mcpServers":{"weather":{"command":"x"}}}');
    const [commands, options, choices, files, names] = offered(
      'fish',
      [
        'isthmus config ',
        'isthmus serve --jwt-',
        'isthmus serve --log-format ',
        'isthmus serve --config mc',
        'isthmus attach --config mcp.json ',
      ],
      folder,
    );
    expect(commands).toEqual(['check', 'import', 'list', 'schema']);
    expect(options).toEqual([
      '--jwt-audience',
      '--jwt-issuer',
      '--jwt-jwks',
      '--jwt-scope',
      '--jwt-scope-claim',
      '--jwt-type',
    ]);
    expect(choices).toEqual(['json', 'pretty']);
    expect(files).toEqual(['mcp.json']);
    expect(names).toEqual(['weather']);
  });
});
