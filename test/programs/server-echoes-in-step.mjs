// Its vice: it does one thing at a time. While an answer is being written, nothing is read. Modern.
// node server-echoes-in-step.mjs
import { writeSync } from 'node:fs';
import { serveLines } from './support/line-server.mjs';

serveLines({
  name: 'echoes-in-step',
  eras: 'modern',
  onAnswer(message) {
    let bytes = Buffer.from(`${JSON.stringify(message)}\n`);
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(1, bytes));
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
  },
});
