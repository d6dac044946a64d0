import type { Peer, Service } from './call.js';

/** The instructions of a service for one client. */
export function instructionsOf(service: Service, peer: Peer): string | undefined {
  return service.instructionsFor ? service.instructionsFor(peer) : service.instructions;
}
