// A server that tells what it knows of itself: its process, its variables, its words; and what it is told to say.
// node tells-all.mjs [legacy|modern|dual] [words …]
import { serveLines } from '../../../../../test/programs/support/line-server.mjs';

let notes = '';

const server = serveLines({
  name: 'tells-all',
  eras: process.argv[2] ?? 'dual',
  tools: {
    pid: () => String(process.pid),
    environment: () => JSON.stringify(process.env),
    words: () => JSON.stringify(process.argv),
    /** What it was called with, as it came. */
    mirror: (_args, { params }) => JSON.stringify(params),
    remember: ({ text }) => {
      notes = text;
      return 'noted';
    },
    recall: () => notes,
    /** Says something before it answers, so that the answer comes on a stream. */
    async whisper({ text }, { params }) {
      const { progressToken } = params._meta;
      const update = { progressToken, progress: 1, message: text };
      await server.sendLine(
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: update }),
      );
      return text;
    },
    say: ({ text }) => {
      process.stderr.write(text);
      return 'said';
    },
    /** A secret of its own in an error that is meant for the client. */
    fall: ({ text }) => {
      process.stderr.write(text, () => process.exit(1));
      return new Promise(() => {});
    },
    big: ({ bytes }) => 'x'.repeat(bytes),
  },
});
