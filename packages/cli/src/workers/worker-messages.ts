/** What the parent of the workers tells one of them. */
export type ToWorker =
  | {
      readonly of: 'workers';
      readonly kind: 'welcome';
      /** See `WorkerLink`. */
      readonly parent: string;
      /** Shared by all workers. It never leaves the machine. */
      readonly secret: string;
      /** Worker 1 has the console. */
      readonly number: number;
      /** Whether it says where clients find the gateway. Only the first worker of all does. */
      readonly speaks: boolean;
      /** A folder for its sockets, or on Windows the beginning of the names of its pipes. Only this user can use them. */
      readonly folder: string;
      readonly hasControl: boolean;
    }
  | { readonly of: 'workers'; readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  /** The parent listens at address number `id`. */
  | { readonly of: 'workers'; readonly kind: 'listening'; readonly id: number; readonly port: number }
  | {
      readonly of: 'workers';
      readonly kind: 'not-listening';
      readonly id: number;
      readonly code: string | undefined;
      readonly message: string;
    }
  /** Sent with the socket of a client. */
  | { readonly of: 'workers'; readonly kind: 'connection'; readonly id: number; readonly number: number };

/** What a worker tells its parent. */
export type ToParent =
  | { readonly of: 'workers'; readonly kind: 'hello' }
  /** It can be told to end, and will have ended after so many milliseconds. */
  | { readonly of: 'workers'; readonly kind: 'owned'; readonly exitMs: number }
  /** Clients can use it. */
  | { readonly of: 'workers'; readonly kind: 'ready' }
  /** Somebody has sent it a signal, and not to the parent. */
  | { readonly of: 'workers'; readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | AddressRequest
  | { readonly of: 'workers'; readonly kind: 'unlisten'; readonly id: number }
  /** It reads from the connection. */
  | { readonly of: 'workers'; readonly kind: 'taken'; readonly number: number }
  /** It has stopped listening before the connection came. */
  | { readonly of: 'workers'; readonly kind: 'refused'; readonly number: number };

/** Asks for connections of clients. All workers open the same addresses in the same order. */
export interface AddressRequest {
  readonly of: 'workers';
  readonly kind: 'listen';
  /** The number of the address, from 1. */
  readonly id: number;
  readonly host: string;
  readonly port: number;
}

export function isOfWorkers<T extends ToWorker | ToParent>(message: unknown): message is T {
  return typeof message === 'object' && message !== null && (message as { of?: unknown }).of === 'workers';
}
