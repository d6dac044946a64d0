import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Folders whose files may share a process, one after the other: nothing is started and loaded again for each, which
 * is half of what they cost. They leave nothing behind in it. New folders come here when they have shown that.
 */
const SHARED = [
  ...['bridge', 'cli', 'client', 'config', 'e2e', 'era', 'host', 'http-client', 'http-server', 'interop'],
  ...['gateway', 'gateway-auth', 'gateway-control', 'gateway-limits', 'gateway-telemetry', 'daemon'],
  ...['check', 'check-client', 'check-cli', 'check-report', 'check-rules', 'check-shapes', 'check-through'],
  ...['process-layer', 'schema', 'server', 'transcripts', 'wire'],
].map((folder) => `test/${folder}/**/*.test.ts`);

/** Minutes of the same with more partners, or more of it: `npm run test:long`. */
const LONG = [
  'test/bridge-load/http-upstream.test.ts',
  'test/bridge-load/seats.test.ts',
  'test/bridge-load/slow-readers.test.ts',
  'test/bridge-load/unread-answers.test.ts',
  'test/bridge-matrix/direct.test.ts',
  'test/check-client/official.test.ts',
  'test/check-load/busy-machine.test.ts',
  'test/check-client/real-clients.test.ts',
  'test/cli/attach-crash.test.ts',
  'test/conformance/runner.test.ts',
  'test/e2e/stalled-reader.test.ts',
  'test/gateway-chaos/chaos.test.ts',
  'test/host/chaos.test.ts',
  'test/host/lifetime-of-programs.test.ts',
  'test/moving/sdk-programs.test.ts',
  'test/package/pack.test.ts',
  'test/process-layer/death-watch-program.test.ts',
  'test/solved/memory.test.ts',
  'test/transparency/transparency.test.ts',
];
/** These do more in the long run. */
const LONGER = ['test/bridge-matrix/matrix.test.ts'];
const wantsLong = process.env['ISTHMUS_LONG'] === '1';
const left = ['**/node_modules/**', ...(wantsLong ? [] : LONG)];

export default defineConfig({
  test: {
    globalSetup: ['test/setup/build.ts', 'test/setup/own-folder.ts'],
    // Most tests wait for processes and sockets: on two cores, four files at a time take little more than two.
    maxWorkers: 2 * Math.max(2, availableParallelism() - 1),
    // Real processes on two cores: a slow machine is not a failure, a hang is.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 10 } },
    projects: [
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: wantsLong ? [] : SHARED, exclude: left },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: wantsLong ? [...LONG, ...LONGER] : ['test/**/*.test.ts', 'src/**/*.test.ts'],
          exclude: wantsLong ? left : [...left, ...SHARED],
        },
      },
    ],
  },
});
