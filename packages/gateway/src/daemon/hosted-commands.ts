import type { Host } from '@isthmus/sdk/internal/host/create-host.js';
import { resolveDefinition, type ServerDefinition } from '@isthmus/sdk/internal/host/definition.js';

/** The commands of a host, one by one. */
export interface HostedCommands {
  /** Throws when the definition is invalid. */
  add(name: string, definition: ServerDefinition): void;
  /** Settles when its processes have ended. */
  remove(name: string): Promise<void>;
}

export function hostedCommands(host: Host): HostedCommands {
  let definitions: Readonly<Record<string, ServerDefinition>> = {};
  return {
    add(name, definition) {
      resolveDefinition(name, definition);
      definitions = { ...definitions, [name]: definition };
      // New ones are there at once; what is awaited is the end of others.
      host.configure(definitions).catch(() => {});
    },
    async remove(name) {
      const { [name]: _, ...rest } = definitions;
      definitions = rest;
      await host.configure(definitions);
    },
  };
}
