/** On a terminal, for which `script` of util-linux stands in: questions, live progress, Ctrl-C. */
import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ISTHMUS } from '../../../../test/support/child.js';
import { demo } from '../support/isthmus.js';

const isThere =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

describe.skipIf(!isThere)('on a terminal', () => {
  it.each(['legacy', 'modern'])('a form is asked field by field (%s)', async (era) => {
    const { code, screen } = await type(
      ['call', 'test_elicitation_sep1034_defaults', ...demo('--era', era)],
      [
        ['name [John Doe]: ', 'Ada\r'],
        ['age [30]: ', 'old\r'],
        ['Enter a whole number', ''],
        ['age [30]: ', '36\r'],
        ['score [95.5]: ', '\r'],
        ['status [active]: ', '3\r'],
        ['verified [yes]: ', 'n\r'],
        ['Send? [Y/n] ', '\r'],
      ],
    );
    expect(screen).toContain('"name":"Ada","age":36,"score":95.5,"status":"pending","verified":false');
    expect(code).toBe(0);
  });

  it('a URL is confirmed', async () => {
    const { code, screen } = await type(
      ['call', 'test_url_elicitation', ...demo()],
      [
        ['https://example.com/sign-in', ''],
        ['Accept? [y/n] ', 'y\r'],
      ],
    );
    expect(screen).toContain('action=accept');
    expect(code).toBe(0);
  });

  it('Ctrl-D cancels the question, Ctrl-C the call', async () => {
    const cancelled = await type(['call', 'test_elicitation', ...demo()], [['username: ', '\u0004']]);
    expect(cancelled.screen).toContain('action=cancel');
    expect(cancelled.code).toBe(0);
    const interrupted = await type(['call', 'test_elicitation', ...demo()], [['username: ', '\u0003']]);
    expect(interrupted.screen).toContain('Interrupted');
    expect(interrupted.code).toBe(130);
  });

  it('progress is drawn over itself, and Ctrl-C ends the call with 130', async () => {
    const { code, screen } = await type(
      ['call', 'sleep', 'ms=20000', ...demo()],
      [['1%  200/20000', '\u0003']],
    );
    expect(screen).toContain('\r\u001b[K');
    expect(screen).toContain('Interrupted; the request was cancelled');
    expect(code).toBe(130);
  });

  it('a benchmark says how far it is, and Ctrl-C prints what it has', async () => {
    const { code, screen } = await type(
      ['bench', '--warmup', '0.1', '--duration', '600', ...demo()],
      [
        ['warming up', ''],
        ['/600 s, ', ''],
        ['/s, p99 ', '\u0003'],
      ],
    );
    expect(screen).toContain('interrupted: these numbers are from the time before');
    expect(screen).toContain('throughput');
    expect(code).toBe(130);
  });

  it('colours are used, unless NO_COLOR asks for none', async () => {
    const painted = await type(['probe', ...demo()], [], { NO_COLOR: '' });
    expect(painted.screen).toContain('\u001b[2m');
    const plain = await type(['probe', ...demo()], []);
    expect(plain.screen).not.toContain('\u001b[2m');
  });

  it.each([
    ['demo', ' call echo text=hello -- '],
    ['attach', 'To try the server, give it to isthmus list, call or inspect'],
  ])('%s says that it waits for a host', async (command, hint) => {
    const { code, screen } = await type(
      command === 'demo' ? ['demo'] : ['attach', '--no-daemon', ...demo()],
      [
        [
          `isthmus: ${command} waits for the messages of an MCP host, but stdin is a terminal; Ctrl-D ends it`,
          '',
        ],
        [hint, ''],
        ['\n', '\u0004'],
      ],
    );
    expect([code, screen]).toEqual([0, expect.any(String)]);
  });

  it('what a server says cannot paint the screen', async () => {
    const { screen } = await type(['call', 'echo', 'text=a\u001b[2Jb', ...demo()], []);
    expect(screen).toContain('ab');
    expect(screen).not.toContain('\u001b[2J');
  });
});

/** Runs the program on a pseudo terminal and types each text when its cue has appeared. */
async function type(
  args: readonly string[],
  cues: readonly (readonly [cue: string, text: string])[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; screen: string }> {
  const command = [process.execPath, ISTHMUS, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', FORCE_COLOR: '', ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let screen = '';
  let seen = 0;
  const waiting = [...cues];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    for (let at = cueAt(); at >= 0; at = cueAt()) {
      const [cue, keys] = waiting.shift()!;
      seen = at + cue.length;
      if (keys !== '') child.stdin.write(keys);
    }
  });
  const cueAt = () => (waiting.length > 0 ? screen.indexOf(waiting[0]![0], seen) : -1);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  expect(waiting, screen).toEqual([]);
  return { code, screen };
}
