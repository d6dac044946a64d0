import { to } from '../state/route.js';

/** What every screen about a server takes. `rest`: the parts of the address after the name of the screen. */
export interface ScreenProps {
  /** Of a gateway. Undefined: the one server that is inspected. */
  readonly server: string | undefined;
  readonly rest: readonly string[];
}

/** The address of a screen about a server. */
export function under(server: string | undefined, ...parts: readonly (string | number)[]): string {
  return server === undefined ? to(...parts) : to('server', server, ...parts);
}
