import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    globalSetup: ['test/setup/build.ts'],
    // Most tests wait for processes and sockets: on two cores, two files at a time take little more than one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Real processes on two cores: a slow machine is not a failure, a hang is.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 10 } },
  },
});
