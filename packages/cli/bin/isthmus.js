#!/usr/bin/env node
const { readFileSync } = require('node:fs');

// Node 22.8 and later keep compiled code between starts. Earlier ones would load the module for nothing.
if (Number.parseInt(process.versions.node, 10) >= 22) require('node:module').enableCompileCache?.();

// A program that serves connections needs more. With fewer than this a command fails with errors that do not name the cause.
const NEEDED = 128;
const limit = openFilesLimit();
if (limit < NEEDED) {
  process.stderr.write(
    `isthmus: only ${limit} files may be open at the same time here, and isthmus needs ${NEEDED} to start (a gateway more: one for each connection, three for each server)\nhint: Raise the limit before you start it: ulimit -n 4096, LimitNOFILE=4096 in a systemd unit, --ulimit nofile=4096 with docker run\n`,
  );
  process.exit(1);
}

require('../dist/bundle/main.js').main(process.argv);

/** Infinity where the system does not say it in a file. */
function openFilesLimit() {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
