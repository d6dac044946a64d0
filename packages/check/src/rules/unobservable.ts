/** Rules for servers that nobody can watch from outside, and why. What can be watched must not be here. */

/** Who would have to be asked: nobody outside of the server, an authorization server, or a client. */
export type Beyond = 'unobservable' | 'authorization server' | 'client';

export interface OutOfSight {
  readonly kind: Beyond;
  readonly why: string;
}

const SECOND_PRINCIPAL = 'It takes a second user, whose token the referee does not have.';
const NEW = 'Whether an implementation is new, and whether it has a choice, is not to be seen on the wire.';
const DOCUMENTS = 'It is about documentation.';
const READS_SCHEMAS =
  'A server publishes schemas and is given none: what it would do with a foreign one is not to be seen.';
const PROVOKED = 'Nothing that is sent to an unknown server makes it fail inside for sure.';
const OWN_STATE = 'What a tool remembers, and by what, is not to be seen without knowing what it is for.';
const NO_RATE = 'The specification names no rate or order to measure by.';
const TOKENS = 'It takes tokens of a certain kind, which only the authorization server can issue.';

const LIST: Readonly<Record<string, string | OutOfSight>> = {
  'META-012': 'What a decision about security is based on is not to be seen from outside.',
  'META-017': 'Whether a prefix is a domain written backwards cannot be told from the prefix.',
  'STATE-004': OWN_STATE,
  'JSCH-003': READS_SCHEMAS,
  'JSCH-005': DOCUMENTS,
  'JSCH-007': READS_SCHEMAS,
  'JSCH-008': READS_SCHEMAS,
  'JSCH-010': READS_SCHEMAS,
  'ERR-001':
    'Whether a code is a new one cannot be told from the code; that none of the range is used is ERR-002.',
  'ERR-003': {
    kind: 'client',
    why: 'A modern server is sent no errors, so the receiver is always the client.',
  },
  'ERR-010': { kind: 'client', why: 'A failure on the spot is shown to its own user and never sent.' },
  'ERR-019': PROVOKED,
  'VER-022': DOCUMENTS,
  'STDIO-018': DOCUMENTS,
  'LIFE-009': OWN_STATE,
  'HTTP-005': 'Whether a server has to know who calls depends on what it serves, and to whom.',
  'HTTP-067': SECOND_PRINCIPAL,
  'HTTP-072': NEW,
  'SESS-012': SECOND_PRINCIPAL,
  'INIT-015': 'How long a server waits for an answer is its own choice, and may be longer than any check.',
  'INIT-016': 'Whether a timeout can be set is a matter of configuration.',
  'PING-003': NO_RATE,
  'TASK-014': { kind: 'client', why: 'It is about whoever waits for a task.' },
  'TASK-015': SECOND_PRINCIPAL,
  'MRTR-013': 'Whether a state may be used only once is for the server to decide.',
  'CANC-012': 'Logs are kept where only the operator can read them.',
  'CANC-014': 'Whether a timeout can be set is a matter of configuration.',
  'CACHE-006': { kind: 'client', why: 'It is about whoever keeps results.' },
  'CACHE-021': SECOND_PRINCIPAL,
  'LOG-009': NEW,
  'COMP-006': NO_RATE,
  'COMP-008': SECOND_PRINCIPAL,
  'TOOL-029': OWN_STATE,
  'RES-006': PROVOKED,
  'RES-014': 'It would take fetching addresses that a stranger names, which a referee does not do.',
  'RES-018': SECOND_PRINCIPAL,
  'PROMPT-011': 'What counts as an injection depends on the model that reads it.',
  'ELIC-020': SECOND_PRINCIPAL,
  'ELIC-021': 'What is done with credentials happens between the server and a third party.',
  'ELIC-022': SECOND_PRINCIPAL,
  'ELIC-029': SECOND_PRINCIPAL,
  'SAMP-001': NEW,
  'ROOT-001': NEW,
  'AUTH-002': 'Where a server has its credentials from is not to be seen on the wire.',
  'AUTH-016': { kind: 'authorization server', why: 'It registers clients, or does not.' },
  'AUTH-030': { kind: 'authorization server', why: TOKENS },
  'AUTH-032': 'What is sent to a third party is not to be seen from the side of the client.',
  'AUTH-036': { kind: 'authorization server', why: TOKENS },
  'AUTH-039': { kind: 'authorization server', why: TOKENS },
  'AUTH-043': 'How tokens are stored is not to be seen from outside.',
};

export const OUT_OF_SIGHT: ReadonlyMap<string, OutOfSight> = new Map(
  Object.entries(LIST).map(([id, entry]) => [
    id,
    typeof entry === 'string' ? { kind: 'unobservable', why: entry } : entry,
  ]),
);
