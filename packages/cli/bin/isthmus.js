#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import module from 'node:module';

// Node 22.8 and later keep compiled code between starts.
module.enableCompileCache?.();

// Node reads the files of a program at the same time. With fewer descriptors that fails, with an error that does not name the cause.
const NEEDED = 128;
const limit = openFilesLimit();
if (limit < NEEDED) {
  process.stderr.write(
    `isthmus: only ${limit} files may be open at the same time here, and isthmus needs ${NEEDED} to start (a gateway more: one for each connection, three for each server)\nhint: Raise the limit before you start it: ulimit -n 4096, LimitNOFILE=4096 in a systemd unit, --ulimit nofile=4096 with docker run\n`,
  );
  process.exit(1);
}

const { main } = await import('../dist/bundle/main.js');
await main(process.argv);

/** Infinity where the system does not say it in a file. */
function openFilesLimit() {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
