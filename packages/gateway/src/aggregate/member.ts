import type { Service } from '@isthmus/sdk/internal/exchange/call.js';

/** One of several servers that are served as one. */
export interface AggregateMember {
  readonly name: string;
  readonly service: Service;
  /** Why it cannot be asked at present: by this caller, or by anybody. Undefined: it can, or will be soon. */
  absence(asker?: { readonly principal: string | undefined }): string | undefined;
}

/** A server that could not be asked, and why. */
export interface Absent {
  readonly server: string;
  readonly reason: string;
}

/** The `_meta` key of lists under which absent servers are named: nobody is to take their tools for gone. */
export const ABSENT = 'isthmus/absent';
