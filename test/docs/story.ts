/**
 * Runs a page from top to bottom in a folder of its own, as a reader would: files are written, commands run, servers keep
 * running beside what follows. `npx` and `npm` are stand-ins that use this repository instead of a registry.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';
import { ISTHMUS } from '../support/child.js';
import { kindOf, placeOf } from './block-kinds.js';
import { linesOf } from './command-lines.js';
import { blocksOf, type CodeBlock, root } from './markdown.js';

/** What a command printed beside what the page shows. */
export interface Transcript {
  readonly place: string;
  readonly line: string;
  readonly shown: string;
  readonly printed: string;
}

export interface PlayedStory {
  readonly files: readonly string[];
  readonly ran: readonly string[];
  readonly transcripts: readonly Transcript[];
}

const COMMAND_LIMIT_MS = 240_000;

/** Rejects with the place and the output of the first command that fails. */
export async function playStory(page: string): Promise<PlayedStory> {
  const port = await freePort();
  // Inside the repository, so that the names of packages mean what they mean there.
  const folder = join(root, '.cache', `story-${process.pid}-${page.replaceAll(/\W/g, '-')}`);
  // Outside, since the path of a socket may not be long.
  const home = mkdtempSync(join(tmpdir(), 'isthmus-story-'));
  const stage = { folder, port, env: openFolder(folder, home, port) };
  const files: string[] = [];
  const ran: string[] = [];
  const transcripts: Transcript[] = [];
  let serving: ChildProcess | undefined;
  try {
    for (const block of blocksOf(page)) {
      const name = fileNameOf(block);
      if (name !== undefined) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), block.text.replaceAll('8080', String(port)));
        files.push(name);
      }
      if (kindOf(block) !== 'commands' || block.mark?.key === 'not run') continue;
      const shown = outputsOf(block);
      for (const [at, line] of linesOf(block).entries()) {
        ran.push(line);
        const own = line.replaceAll('8080', String(port));
        if (/\bisthmus serve\b/.test(line) || block.mark?.key === 'serves') {
          await end(serving);
          serving = await startServing(own, stage, placeOf(block));
        } else {
          const printed = await runLine(own, stage, placeOf(block));
          if (block.language === 'console')
            transcripts.push({ place: placeOf(block), line, shown: shown[at] ?? '', printed });
        }
      }
    }
    return { files, ran, transcripts };
  } finally {
    await end(serving);
    // What `attach` has started.
    await runLine('isthmus daemon stop', stage, page).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
  }
}

interface Stage {
  readonly folder: string;
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
}

/** A first line `// NAME`, or `<!-- file: NAME -->` before the block. */
function fileNameOf({ text, mark }: CodeBlock): string | undefined {
  return mark?.key === 'file' ? mark.value : /^\/\/ ([\w./-]+\.m?[jt]s)$/m.exec(text.split('\n')[0]!)?.[1];
}

function outputsOf({ text }: CodeBlock): readonly string[] {
  return text
    .split(/^\$ .*\n/m)
    .slice(1)
    .map((part) => part.trimEnd());
}

function openFolder(folder: string, home: string, port: number): NodeJS.ProcessEnv {
  const bin = join(folder, '.bin');
  mkdirSync(bin, { recursive: true });
  const program = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const isthmus = `exec "${process.execPath}" "${ISTHMUS}" "$@"`;
  program('isthmus', isthmus);
  // Packages that are not installed here are not to be fetched.
  program(
    'npx',
    [
      '[ "$1" = -y ] && shift',
      'name="$1"; shift',
      'case "$name" in',
      `  isthmus) ${isthmus} ;;`,
      `  @modelcontextprotocol/server-*) exec "${root}node_modules/.bin/mcp-server-\${name#@modelcontextprotocol/server-}" "$@" ;;`,
      '  *) echo "npx: $name is not known here" >&2; exit 1 ;;',
      'esac',
    ].join('\n'),
  );
  program(
    'npm',
    [
      'case "$1" in',
      '  init) echo "{}" > package.json ;;',
      '  install) ;;',
      '  *) echo "npm $1 is not known here" >&2; exit 1 ;;',
      'esac',
    ].join('\n'),
  );
  return {
    PATH: `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    XDG_RUNTIME_DIR: home,
    XDG_CACHE_HOME: home,
    XDG_STATE_HOME: home,
    ISTHMUS_PORT: String(port),
  };
}

function runLine(line: string, { folder, env }: Stage, place: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env, timeout: COMMAND_LIMIT_MS, maxBuffer: 2 ** 24 };
    execFile('/bin/sh', ['-c', line], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trimEnd());
      else reject(new Error(`${place}: ${line}\n${error.message}\n${stdout}${stderr}`));
    });
  });
}

async function startServing(
  line: string,
  { folder, env, port }: Stage,
  place: string,
): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', `exec ${line}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${place}: ${line}\nended with ${code}\n${said}`);
  });
  const ready = async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/readyz`);
    // A web server of the reader has no such page.
    if (status !== 200 && status !== 404) throw new Error(`${place}: ${line}\nis not ready\n${said}`);
  };
  await Promise.race([ended, vi.waitFor(ready, { timeout: 60_000, interval: 50 })]);
  return child;
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
