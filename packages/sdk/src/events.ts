import diagnostics from 'node:diagnostics_channel';

/**
 * Diagnostics: subscribe with `node:diagnostics_channel` to see what the runtime refused or dropped. Subscribers cannot
 * change what happens. Publishing costs nothing without subscribers.
 */
export const events = {
  /** A line or message was refused. `{ connection, id, error }` */
  refused: diagnostics.channel('isthmus:refused'),
  /** A message was dropped by the rules of the protocol (late answer, stray notification). `{ connection, why, message }` */
  dropped: diagnostics.channel('isthmus:dropped'),
  /** A handler threw something other than a `ProtocolError` or an `IsthmusError`. `{ method, error }` */
  handlerFailed: diagnostics.channel('isthmus:handler-failed'),
  /** A connection ended. `{ connection, reason, error }` */
  closed: diagnostics.channel('isthmus:closed'),
  /** The state of a host's process changed; the message is a `HostEvent`. */
  host: diagnostics.channel('isthmus:host'),
  /** User code wrote to standard output while the protocol owned it. `{ text }` */
  strayOutput: diagnostics.channel('isthmus:stray-output'),
} as const;
