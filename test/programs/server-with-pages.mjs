// Its vice: its list comes in pages, and one of its cursors is the empty string. 25 tools (`echo` and `tool-01` …
// `tool-24`, each returning its name) in pages of 10, 10 and 5. Modern cursors: "" and "20"; legacy: "10" and "20".
// node server-with-pages.mjs [dual|legacy|modern]
import { choice, serveLines, toolDefinition, WireError } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);
const names = Array.from({ length: 24 }, (_, i) => `tool-${String(i + 1).padStart(2, '0')}`);
const all = ['echo', ...names];
const PAGE = 10;

serveLines({
  name: 'with-pages',
  eras,
  tools: Object.fromEntries(names.map((name) => [name, () => name])),
  list({ cursor }, modern) {
    const cursors = [undefined, modern ? '' : '10', '20'];
    const page = cursors.indexOf(cursor);
    if (page < 0) throw new WireError(-32602, `Unknown cursor: ${JSON.stringify(cursor)}`);
    const tools = all.slice(page * PAGE, (page + 1) * PAGE).map(toolDefinition);
    const nextCursor = cursors[page + 1];
    return nextCursor === undefined ? { tools } : { tools, nextCursor };
  },
});
