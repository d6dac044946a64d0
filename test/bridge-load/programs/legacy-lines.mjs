// A legacy server over stdio that depends on nothing, for tests that start many: it is there in no time.
// Tools: echo {text}, elicit {text}, pid. It tells of changes of its list of tools, and never has any.
// What it did is in the file that DIARY names.
import { serveLines } from '../../process/support/line-server.mjs';
import { form, note } from './common.mjs';

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
