import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ServerCapabilities } from '@isthmus/sdk/internal/wire/model.js';
import type { AggregateMember } from './members.js';
import { jointTasks } from './shared-tasks.js';

/**
 * What any of the servers has. Everything, while one of them is not known yet: `present` are those that have answered. Lists
 * can always change, because servers come and go.
 */
export function jointCapabilities(
  members: readonly AggregateMember[],
  present: readonly AggregateMember[],
): ServerCapabilities {
  const known = present.map(({ service }) => service.capabilities());
  const extras = { ...jointExtras(known), ...jointTasks(known) };
  return present.length < members.length
    ? { ...extras, ...EVERYTHING }
    : { ...extras, ...coreCapabilities(known) };
}

/** The instructions of all servers, each under its name. Those of a single server stay as they are. */
export function jointInstructions(
  members: readonly AggregateMember[],
  instructionsIn: (service: Service) => string | undefined,
): string | undefined {
  const all = members.flatMap(({ name, service }) => {
    const instructions = instructionsIn(service);
    if (instructions === undefined) return [];
    return [members.length === 1 ? instructions : `# ${name}\n\n${instructions}`];
  });
  return all.length > 0 ? all.join('\n\n') : undefined;
}

/** The capabilities of several servers that the core protocol does not have: of two with one name, the first. */
function jointExtras(all: readonly ServerCapabilities[]): ServerCapabilities {
  const extras: Record<string, unknown> = {};
  for (const capabilities of all) {
    const { tools, prompts, resources, completions, logging, tasks, ...rest } = capabilities;
    for (const [name, value] of Object.entries(rest)) {
      const known = extras[name];
      const isJoined = name === 'extensions' || name === 'experimental';
      extras[name] = isJoined && isJsonObject(known) ? { ...(value as object), ...known } : (known ?? value);
    }
  }
  return extras as ServerCapabilities;
}

/** Tools are always declared. */
function coreCapabilities(all: readonly ServerCapabilities[]): ServerCapabilities {
  const has = (name: keyof ServerCapabilities) => all.some((each) => each[name] !== undefined);
  const { tools, prompts, resources, completions, logging } = EVERYTHING;
  return {
    tools,
    ...(has('prompts') && { prompts }),
    ...(has('resources') && { resources }),
    ...(has('completions') && { completions }),
    ...(has('logging') && { logging }),
  };
}

const EVERYTHING = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
} satisfies ServerCapabilities;
