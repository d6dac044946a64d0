import diagnostics from 'node:diagnostics_channel';

/**
 * Diagnostics for watching, never for steering: subscribe with `node:diagnostics_channel` to see what the
 * runtime had to refuse or swallow. Publishing costs nothing while nobody listens.
 */
export const events = {
  /** A line or message was refused. `{ connection, id, error }` */
  refused: diagnostics.channel('isthmus:refused'),
  /** A message was dropped because the protocol says so (late answer, stray notification). `{ connection, why, message }` */
  dropped: diagnostics.channel('isthmus:dropped'),
  /** A handler failed with something that was not meant for the wire. `{ method, error }` */
  handlerFailed: diagnostics.channel('isthmus:handler-failed'),
  /** A connection ended. `{ connection, reason, error }` */
  closed: diagnostics.channel('isthmus:closed'),
  /** Something happened to a process of a host; the message is a `HostEvent`. */
  host: diagnostics.channel('isthmus:host'),
  /** User code wrote to standard output while the protocol owned it. `{ text }` */
  strayOutput: diagnostics.channel('isthmus:stray-output'),
} as const;
