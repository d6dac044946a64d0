import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    globalSetup: ['test/setup/build.ts'],
    // Real processes on two cores: a slow machine is not a failure, a hang is.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
