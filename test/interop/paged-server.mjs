// A server whose lists do not fit on one page: node test/interop/paged-server.mjs
import { createServer, serve, stdio } from 'isthmus';

const server = createServer({ name: 'paged', version: '1.0.0', pageSize: 2 });
for (const letter of ['a', 'b', 'c', 'd', 'e']) {
  server.tool(`tool-${letter}`, { description: letter }, () => letter);
}
for (const letter of ['a', 'b', 'c']) {
  server.resource(`paged://${letter}`, { name: letter }, () => letter);
  server.resourceTemplate(`paged://${letter}/{id}`, { name: letter }, ({ id }) => `${letter} ${String(id)}`);
}
for (const letter of ['a', 'b', 'c', 'd']) server.prompt(`prompt-${letter}`, {}, () => letter);

await serve(server, stdio());
