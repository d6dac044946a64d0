/** What all measured HTTP servers do: listen on a free port, print it on stdout, and exit when stdin ends. */

/** @param {import('node:http').Server} server */
export function tellPort(server) {
  // While the others have their rounds it is idle for longer than the 5 s of Node.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    process.stdout.write(`${port}\n`);
  });
  endWithStdin();
}

export function endWithStdin() {
  process.stdin.on('end', () => process.exit(0)).resume();
}

/**
 * The names of the tools besides `echo`, as many as the argument asks for in all.
 * @returns {string[]}
 */
export function furtherTools() {
  const count = Number(process.argv[2] ?? '1');
  return Array.from({ length: count - 1 }, (_, index) => `tool-${index + 2}`);
}
