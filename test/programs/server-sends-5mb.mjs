// Its vice: the tool `big` answers with a text of 5,000,000 characters, which ends with `end`.
// node server-sends-5mb.mjs [dual|legacy|modern]
import { choice, serveLines } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);

serveLines({ name: 'sends-5mb', eras, tools: { big: () => `${'x'.repeat(4_999_997)}end` } });
