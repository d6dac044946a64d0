// Its vice: it asks two things at once. Legacy; the tool `ask` sends `elicitation/create`,
// `sampling/createMessage` and `ping` in one go, and answers when all three are answered, with them as text:
//   { "elicitation": …, "sampling": …, "ping": … }   a refusal is { "error": … }
// Its ids are 1, 2, 3 …, as those of many clients. It does not look whether the client declared anything.
// node server-asks-two-at-once.mjs
import { serveLines } from './support/line-server.mjs';

const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
const messages = [{ role: 'user', content: { type: 'text', text: 'Say something.' } }];

serveLines({
  name: 'asks-two-at-once',
  eras: 'legacy',
  tools: {
    async ask(_args, _message, server) {
      const [elicitation, sampling, ping] = await Promise.all([
        server.ask('elicitation/create', { message: 'Your answer?', requestedSchema }),
        server.ask('sampling/createMessage', { messages, maxTokens: 100 }),
        server.ask('ping'),
      ]);
      return JSON.stringify({ elicitation, sampling, ping });
    },
  },
});
