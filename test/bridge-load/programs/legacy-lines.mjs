// A legacy server over stdio that depends on nothing, for tests that start many: it is there in no time.
// Tools: echo {text}, elicit {text}, big {bytes}, flood {times} of progress with 64 KiB each, pid.
// It tells of changes of its list of tools, and never has any.
// What it did is in the file that DIARY names. With SLEEPY it hears nothing before it gets SIGUSR2.
import { once } from 'node:events';
import { serveLines } from '../../programs/support/line-server.mjs';
import { form, note } from './common.mjs';

if (process.env.SLEEPY) {
  const awake = setInterval(() => {}, 1000);
  note(`asleep ${process.pid}`);
  await once(process, 'SIGUSR2');
  clearInterval(awake);
}

/** What the calls are about that have asked, by their ids. */
const asking = new Map();

const server = serveLines({
  name: 'legacy-lines',
  eras: 'legacy',
  tools: {
    async elicit({ text }, { id }, { ask }) {
      note(`asking ${text}`);
      asking.set(id, text);
      const { content, error } = await ask('elicitation/create', form(text));
      note(`${error ? 'refused' : 'answered'} ${text}`);
      return `${text}: ${error ? error.message : content?.answer}`;
    },
    big: ({ bytes }) => 'x'.repeat(bytes),
    async flood({ times }, { params }) {
      const { progressToken } = params._meta;
      const message = 'x'.repeat(64 * 1024);
      for (let progress = 1; progress <= times; progress += 1) {
        const update = { progressToken, progress, message };
        await server.sendLine(
          JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: update }),
        );
      }
      note('flooded');
      return 'flooded';
    },
    pid: () => String(process.pid),
  },
  intercept({ method, params }) {
    if (method === 'notifications/cancelled') note(`cancelled ${asking.get(params.requestId)}`);
    return false;
  },
  onAnswer(message) {
    const { result } = message;
    if (result?.capabilities) result.capabilities = { tools: { listChanged: true } };
    server.send(message);
  },
});
