/** Rules for servers that a client cannot observe, with the reason. Observable rules must not be listed here. */

/** `unobservable`: not visible on the wire. Otherwise the party that could check it. */
export type UnobservableKind = 'unobservable' | 'authorization server' | 'client';

interface UnobservableRule {
  readonly kind: UnobservableKind;
  readonly why: string;
}

const SECOND_PRINCIPAL = 'Checking it needs the token of a second user.';
const NEW = 'The wire does not show whether an implementation is new, or whether it has a choice.';
const DOCUMENTS = 'It is about documentation.';
const READS_SCHEMAS =
  'A server publishes schemas and receives none, so its handling of foreign schemas is not visible.';
const PROVOKED = 'No request reliably causes an internal error in an unknown server.';
const OWN_STATE = 'The state of a tool is visible only if the purpose of the tool is known.';
const NO_RATE = 'The specification defines no rate or order that could be measured.';

const LIST: Readonly<Record<string, string | UnobservableRule>> = {
  'META-012': 'The basis of a security decision is not visible to a client.',
  'META-017': 'A prefix does not show whether it is a reversed domain name.',
  'STATE-004': OWN_STATE,
  'JSCH-003': READS_SCHEMAS,
  'JSCH-005': DOCUMENTS,
  'JSCH-007': READS_SCHEMAS,
  'JSCH-008': READS_SCHEMAS,
  'JSCH-010': READS_SCHEMAS,
  'ERR-001': 'A code does not show whether it is new. ERR-002 covers the use of the range.',
  'ERR-003': {
    kind: 'client',
    why: 'A modern server receives no errors, so the receiver is always the client.',
  },
  'ERR-010': { kind: 'client', why: 'A local failure is shown to the user and not sent.' },
  'ERR-019': PROVOKED,
  'VER-022': DOCUMENTS,
  'STDIO-018': DOCUMENTS,
  'LIFE-009': OWN_STATE,
  'HTTP-005': 'Whether a server needs authentication depends on its data and its users.',
  'HTTP-067': SECOND_PRINCIPAL,
  'HTTP-072': NEW,
  'INIT-015': 'A server chooses how long it waits for an answer, and that may be longer than a check.',
  'INIT-016': 'Whether a timeout can be set is a matter of configuration.',
  'PING-003': NO_RATE,
  'TASK-014': { kind: 'client', why: 'It binds the party that waits for a task.' },
  'MRTR-013': 'The server decides whether a state may be used only once.',
  'CANC-012': 'Only the operator can read the logs.',
  'CANC-014': 'Whether a timeout can be set is a matter of configuration.',
  'CACHE-006': { kind: 'client', why: 'It binds the party that caches results.' },
  'CACHE-021': SECOND_PRINCIPAL,
  'LOG-009': NEW,
  'COMP-006': NO_RATE,
  'COMP-008': SECOND_PRINCIPAL,
  'TOOL-029': OWN_STATE,
  'RES-006': PROVOKED,
  'RES-014': 'The referee does not fetch addresses that an unknown server names.',
  'RES-018': SECOND_PRINCIPAL,
  'PROMPT-011': 'What counts as an injection depends on the model that reads it.',
  'ELIC-020': SECOND_PRINCIPAL,
  'ELIC-021': 'The use of credentials is between the server and a third party.',
  'ELIC-022': SECOND_PRINCIPAL,
  'ELIC-029': SECOND_PRINCIPAL,
  'SAMP-001': NEW,
  'ROOT-001': NEW,
  'AUTH-002': 'The wire does not show where a server gets its credentials.',
  'AUTH-016': { kind: 'authorization server', why: 'The authorization server registers clients.' },
  'AUTH-032': 'A client does not see what a server sends to a third party.',
  'AUTH-043': 'The storage of tokens is not visible to a client.',
};

export const UNOBSERVABLE_RULES: ReadonlyMap<string, UnobservableRule> = new Map(
  Object.entries(LIST).map(([id, entry]) => [
    id,
    typeof entry === 'string' ? { kind: 'unobservable', why: entry } : entry,
  ]),
);
