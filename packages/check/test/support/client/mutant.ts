import type { ClientFacts } from '../../../src/client/checks/check.js';
import type { Over } from '../../../src/client/model.js';
import type { Breaking } from './break.js';

/** A client with one fault, as the record that it would leave. */
export interface Mutant {
  /** The check that catches it. */
  readonly check: string;
  /** What is wrong with it. */
  readonly fault: string;
  readonly breaking: Breaking;
  /** Default: the first that the check looks at. */
  readonly scenario?: string;
  readonly over?: Over;
  /** Makes a record to which the check applies, where our own client leaves none. */
  readonly first?: Breaking;
  readonly facts?: Partial<ClientFacts>;
}
