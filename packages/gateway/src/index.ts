/**
 * Many servers behind one address. docs/gateway.md explains it.
 * @module
 */
export { type AppliedChanges, createGateway, type Gateway, type GatewayOptions } from './create-gateway.js';
