// Its vice: the tool `big` answers with a text of 11 MiB, more than the official clients take.
// node server-sends-11mb.mjs [dual|legacy|modern]
import { choice, serveLines } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);

serveLines({ name: 'sends-11mb', eras, tools: { big: () => 'x'.repeat(11 * 1024 * 1024) } });
