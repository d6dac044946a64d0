/**
 * The console: a page in the browser that shows what a server or a gateway does. docs/console.md explains it.
 * @module
 */

export { AccessControl, type AccessControlOptions, type ConsoleUser } from './access/access.js';
export type * from './contract.js';
export { type ConsoleServer, type ConsoleServerOptions, openConsoleServer } from './http/console-server.js';
