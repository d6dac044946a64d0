// Its vice: it exits while most of what it said is still in the pipe.
import { writeSync } from 'node:fs';

const text = Buffer.alloc(Number(process.argv[2]), 'x');
for (let at = 0; at < text.length; ) at += writeSync(1, text, at);
process.exit(5);
