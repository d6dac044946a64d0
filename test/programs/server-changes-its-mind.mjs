// Its vice: it asks and takes the question back, adds tools, and renames them. Legacy.
// node server-changes-its-mind.mjs
import { NO_ANSWER, serveLines } from './support/line-server.mjs';

const tools = [
  {
    name: 'forecast',
    inputSchema: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer' },
        ratio: { type: 'number' },
        note: { type: ['string', 'null'] },
        where: {
          oneOf: [
            {
              title: 'by name',
              type: 'object',
              required: ['by'],
              properties: { by: { const: 'name' }, name: { type: 'string' } },
            },
            {
              title: 'by point',
              type: 'object',
              required: ['by'],
              properties: { by: { const: 'point' }, lat: { type: 'number' } },
            },
          ],
        },
      },
    },
  },
  ...['ask', 'take_back', 'ask_again', 'change'].map((name) => ({ name, inputSchema: { type: 'object' } })),
];
const requestedSchema = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
const message = 'Which day?';
let asked;

const server = serveLines({
  name: 'changes-its-mind',
  eras: 'legacy',
  list: () => ({ tools }),
  tools: {
    forecast: (args) => `It will rain: ${JSON.stringify(args)}`,
    async ask() {
      const id = `question-${process.hrtime.bigint()}`;
      server.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message, requestedSchema } });
      asked = id;
      return NO_ANSWER;
    },
    take_back() {
      const params = { requestId: asked, reason: 'it is not needed any more' };
      server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
      return 'taken back';
    },
    async ask_again() {
      const answer = await server.ask('elicitation/create', { message, requestedSchema });
      return JSON.stringify(answer);
    },
    change() {
      tools.push({ name: 'added', inputSchema: { type: 'object' } });
      tools.splice(0, 1, { ...tools[0], description: 'It has a description now' });
      tools.splice(
        tools.findIndex(({ name }) => name === 'take_back'),
        1,
      );
      server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      return 'changed';
    },
  },
});
