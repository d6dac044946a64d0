import { childEnvironment } from './environment.js';

/**
 * The program of the death watch. It reads lines: `+ 1234` for a process group that began, `- 1234` for one that is gone,
 * `.` to exit. When its input ends, our process has died, and it ends every listed group: SIGTERM, and SIGKILL about a
 * second later. It ignores a last line without a newline, since a truncated number may name another process.
 */
export interface WatchProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

export function watchProgram(platform: NodeJS.Platform = process.platform): WatchProgram {
  if (platform === 'win32') {
    // In an Electron program, the executable acts as Node only with this variable.
    const env = { ...childEnvironment({}), ELECTRON_RUN_AS_NODE: '1' };
    return { command: process.execPath, args: ['-e', WINDOWS_SCRIPT], env, cwd: undefined };
  }
  // PATH is only needed for `sleep`, which is in another folder on a few systems.
  const env = { PATH: `/usr/bin:/bin:${process.env['PATH'] ?? ''}` };
  return { command: '/bin/sh', args: ['-c', POSIX_SCRIPT, 'isthmus-watch'], env, cwd: '/' };
}

/**
 * A shell takes 1 MB of memory, Node 45. Each group has its own variable (1: live, 0: gone), so that a line takes the
 * same time for any number of groups. The list of variables is cleaned now and then. Only `sleep` forks; if that fails,
 * the shell exits and its EXIT trap sends SIGKILL.
 *
 * In the last second, groups that are gone are dropped from the list at once, since the system may reuse their numbers.
 */
const POSIX_SCRIPT = `
trap '' HUP INT QUIT TERM
listed=
length=0
limit=1000

forget_gone() {
  kept=
  length=0
  for group in $listed; do
    eval "live=\\$g$group"
    if [ "$live" = 1 ]; then kept="$kept $group"; length=$((length + 1)); else unset "g$group"; fi
  done
  listed=$kept
}

forget_dead() {
  kept=
  for group in $listed; do
    if kill -0 "-$group"; then kept="$kept $group"; fi
  done
  listed=$kept
}

while IFS=' ' read -r sign group rest; do
  if [ "$sign" = . ]; then exit 0; fi
  case $group in '' | *[!0-9]* | 0* | 1) continue ;; esac
  eval "live=\\\${g$group-}"
  case $sign in
    +)
      if [ -z "$live" ]; then listed="$listed $group"; length=$((length + 1)); fi
      eval "g$group=1"
      ;;
    -) if [ -n "$live" ]; then eval "g$group=0"; fi ;;
  esac
  if [ "$length" -gt "$limit" ]; then forget_gone; limit=$((length * 2 + 1000)); fi
done

forget_gone
trap 'for group in $listed; do kill -KILL "-$group"; done' EXIT
for group in $listed; do kill -TERM "-$group"; done
for step in 1 2 3 4 5 6 7 8 9; do
  forget_dead
  if [ -z "$listed" ]; then exit 0; fi
  sleep 0.1 || { sleep 1; break; }
done
forget_dead
`;

/**
 * Windows ends our children when we die, but not their descendants. These still name their dead parent by its number,
 * which another process may have had before. So only processes are ended that were created after their parent and before
 * our death.
 */
const WINDOWS_SCRIPT = `
const { spawnSync } = require('node:child_process');
for (const signal of ['SIGINT', 'SIGHUP', 'SIGBREAK', 'SIGTERM']) try { process.on(signal, () => {}); } catch {}
const quiet = { windowsHide: true, timeout: 10000, encoding: 'utf8', maxBuffer: 1e8 };
const began = new Map();
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const [sign, pid, at] = line.split(' ');
    if (sign === '.') process.exit(0);
    if (!/^[1-9][0-9]*$/.test(pid)) continue;
    if (sign === '+') began.set(pid, Number(at) || Date.now());
    if (sign === '-') began.delete(pid);
  }
});
process.stdin.on('error', () => {});
process.stdin.on('close', () => {
  if (began.size === 0) return;
  const died = Date.now();
  kill([...began.keys()]);
  const query = 'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) ' +
    '$(([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds())" }';
  const asked = spawnSync('powershell', ['-NoProfile', '-NonInteractive', '-Command', query], quiet);
  const all = String(asked.stdout).split('\\n').map((line) => line.trim().split(' '));
  const found = new Map(began);
  for (const [parent, since] of found) {
    for (const [pid, itsParent, created] of all) {
      const at = Number(created);
      if (itsParent === parent && !found.has(pid) && at >= since && at <= died) found.set(pid, at);
    }
  }
  kill([...found.keys()].filter((pid) => !began.has(pid)));
});
function kill(pids) {
  if (pids.length === 0) return;
  spawnSync('taskkill', [...pids.flatMap((pid) => ['/pid', pid]), '/T', '/F'], quiet);
}
`;
