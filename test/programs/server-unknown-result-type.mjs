// Its vice: the tool `odd` answers with a `resultType` that nobody has heard of. Modern.
// node server-unknown-result-type.mjs
import { serveLines } from './support/line-server.mjs';

serveLines({
  name: 'unknown-result-type',
  eras: 'modern',
  tools: {
    odd: () => ({
      resultType: 'hologram',
      content: [{ type: 'text', text: 'looks like a result' }],
      beam: 1,
    }),
  },
});
