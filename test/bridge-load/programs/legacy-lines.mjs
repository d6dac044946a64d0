// A legacy server over stdio that depends on nothing, for tests that start many: it is there in no time.
// Tools: echo {text}, elicit {text}, pid. It tells of changes of its list of tools, and never has any.
import { serveLines } from '../../process/support/line-server.mjs';
import { form, note } from './common.mjs';

note(`started ${process.pid}`);

const server = serveLines({
  name: 'legacy-lines',
  eras: 'legacy',
  tools: {
    async elicit({ text }, _message, { ask }) {
      note(`asking ${text}`);
      const { content } = await ask('elicitation/create', form(text));
      return `${text}: ${content?.answer}`;
    },
    pid: () => String(process.pid),
  },
  onAnswer(message) {
    const { result } = message;
    if (result?.capabilities) result.capabilities = { tools: { listChanged: true } };
    server.send(message);
  },
});
