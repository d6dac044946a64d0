import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Folders whose files may share a process, one after the other: nothing is started and loaded again for each, which
 * is half of what they cost. They leave nothing behind in it. New folders come here when they have shown that.
 */
const SHARED = [
  ...['bridge', 'cli', 'client', 'config', 'e2e', 'era', 'host', 'http-client', 'http-server', 'interop'],
  ...['gateway', 'gateway-auth', 'gateway-control', 'gateway-limits', 'gateway-telemetry', 'daemon'],
  ...['process-layer', 'schema', 'server', 'transcripts', 'wire'],
].map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    globalSetup: ['test/setup/build.ts', 'test/setup/own-folder.ts'],
    // Most tests wait for processes and sockets: on two cores, two files at a time take little more than one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Real processes on two cores: a slow machine is not a failure, a hang is.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 10 } },
    projects: [
      { extends: true, test: { name: 'shared', isolate: false, include: SHARED } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...SHARED],
        },
      },
    ],
  },
});
