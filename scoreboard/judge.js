// Judges one server with `isthmus check`, or one client with `isthmus check-client`.
import { inRoot } from '../scripts/setup/paths.js';

export const SEED = 20260728;
const node = process.execPath;

/**
 * @param {import('./subjects.js').Subject} subject
 * @param {(done: number, of: number) => void} onProgress
 */
export async function judgeServer(subject, onProgress = () => {}) {
  const { checkServer, commandTarget } = await import('../packages/check/dist/index.js');
  const { startBridge } = await import('../packages/check/dist/through/check-through.js');
  const { callTools = false, noTools = false } = subject;
  const options = {
    seed: SEED,
    callTools,
    noTools,
    onFinding: (_, { done, of }) => onProgress(done, of),
  };
  const toWords = (words) => words.map((word) => (word === 'node' ? node : word));
  if (subject.command) {
    const [command, ...args] = toWords(subject.command);
    const env = subject.env ?? {};
    return checkServer(commandTarget({ command, args, env, cwd: inRoot() }), options);
  }
  const started = await startBridge({
    words: toWords(subject.words),
    server: {},
    cwd: inRoot(),
    inheritEnv: 'all',
  });
  try {
    return await checkServer(started.target, options);
  } finally {
    await started.close();
  }
}

/**
 * @param {import('./real-clients.js').RealClient} client
 * @param {{ only?: string[], jobs?: number, onProgress?: (done: number, of: number) => void }} options
 */
export async function judgeClient(
  { name, program, over },
  { only = [], jobs = 4, onProgress = () => {} } = {},
) {
  const { checkClient } = await import('../packages/check/dist/client/run/check-client.js');
  const { commandPlayer } = await import('../packages/check/dist/client/run/player.js');
  return checkClient({
    player: commandPlayer({ words: [node, program, '{server}'], cwd: inRoot() }),
    label: name,
    version: '',
    ...(over && { over: [over], missing: { stdio: 'this client reaches servers over HTTP only' } }),
    only,
    jobs,
    onRun: onProgress,
  });
}
