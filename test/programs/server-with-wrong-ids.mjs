// Its vice: every answer is preceded by answers that nobody asked for: with the id as a string ("1" for 1; the
// number for a string of digits), with unknown ids, with null. Their text is `for somebody else`.
// node server-with-wrong-ids.mjs [dual|legacy|modern]
import { choice, serveLines } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);
const result = { resultType: 'complete', content: [{ type: 'text', text: 'for somebody else' }] };

serveLines({
  name: 'with-wrong-ids',
  eras,
  onAnswer(message, server) {
    const { id } = message;
    const otherType = typeof id === 'string' && /^\d+$/.test(id) ? Number(id) : String(id);
    const twin = typeof id === 'string' && otherType === id ? `${id} ` : otherType;
    for (const wrong of [twin, 987_654_321, 'nobody', null])
      server.send({ jsonrpc: '2.0', id: wrong, result });
    server.send({ jsonrpc: '2.0', id: 987_654_322, error: { code: -32603, message: 'for somebody else' } });
    server.send(message);
  },
});
