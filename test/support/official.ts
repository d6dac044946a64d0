/** What an official client connects to: a program on its stdin and stdout, or an address of HTTP. */
export type PeerAddress =
  | { readonly command: string; readonly args: readonly string[] }
  /** `sse` is the transport of 2024-11-05. */
  | { readonly url: string | URL; readonly transport?: 'sse' | undefined };

/** The same options for both generations of the official client. */
export interface PeerOptions<Client, Transport, Capabilities> {
  readonly name?: string;
  readonly capabilities?: Capabilities;
  /** Is called before the client connects: the place for handlers of requests and notifications. */
  prepare?(client: Client, transport: Transport): void;
  /** Of a program; it is added to the variables that the official client passes on by itself. */
  readonly env?: Readonly<Record<string, string>>;
  /** Of a program. */
  readonly stderr?: 'ignore' | 'inherit';
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  readonly reconnectionOptions?: typeof NO_RECONNECTION;
}

export interface Connected<Client, Transport> {
  readonly client: Client;
  readonly transport: Transport;
  /** Ends the session over Streamable HTTP, which `client.close()` leaves to expire. */
  endSession(): Promise<void>;
}

/** A stream that is gone with its server is not opened again. */
export const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 10,
  maxReconnectionDelay: 10,
  reconnectionDelayGrowFactor: 1,
};
