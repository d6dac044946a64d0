// Its vice: it logs so much that it would block for ever if nobody read it. Then it says `done` on stdout.
import { writeSync } from 'node:fs';

const bytes = Number(process.argv[2] ?? 2_000_000);
const line = Buffer.from(`${'log '.repeat(255)}...\n`); // 1024 bytes
// Not through process.stderr, which would keep in memory what the pipe does not take.
for (let written = 0; written < bytes; written += line.length) writeSync(2, line);
writeSync(2, 'the last line\n');
process.stdout.write('done\n');
process.stdin.on('end', () => process.exit(0)).resume();
