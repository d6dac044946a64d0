/** The everyday door: define a server and serve it, or connect to one, anywhere. */
export * from './client/index.js';
export * from './server/index.js';
export { type MemoryConnection, type MemoryLink, memory } from './transport/memory.js';
export { type SocketOptions, type TcpOptions, tcp, unixSocket } from './transport/socket.js';
export { type CommandOptions, type StdioOptions, stdio } from './transport/stdio.js';
