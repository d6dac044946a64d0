import type { Session } from '../../../../test/bridge-matrix/clients/session.js';

/** A session at the address of all servers, seen as one at a single of them. */
export function underPrefix(session: Session, prefix: string): Session {
  const own = (names: readonly string[]) =>
    names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const view: Session = Object.create(session);
  return Object.assign(view, {
    tools: async () => own(await session.tools()),
    prompts: async () => own(await session.prompts()),
    call: (name, args, options) => session.call(`${prefix}${name}`, args, options),
    prompt: (name, args) => session.prompt(`${prefix}${name}`, args),
    complete: (ref, argument, value) =>
      session.complete(
        ref.type === 'ref/prompt' ? { ...ref, name: `${prefix}${ref.name}` } : ref,
        argument,
        value,
      ),
    setLogLevel: (level) => session.setLogLevel(level),
  } satisfies Partial<Session>);
}
