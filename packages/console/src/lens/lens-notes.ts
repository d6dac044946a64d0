import type { EraName } from '../contract.js';

/** `client era → server era`. */
export type LensCell = `${EraName} → ${EraName}`;

/** One sentence for a row of the table in docs/bridge.md. */
export function noteFor(cell: LensCell, row: number): string {
  return NOTES[cell][row] ?? SAME[row] ?? 'The bridge hands it on.';
}

/** Where the eras are the same, and where both cells say the same. */
const SAME: Readonly<Record<number, string>> = {
  1: 'The call goes on as it is. Identity and handshake are between each two neighbours.',
  3: 'The result goes on as it is.',
  4: 'The question and its answer go on as they are.',
  12: 'Logs go on to the client that wants this level.',
  15: 'Each side has its own progress tokens.',
  16: 'The cancellation goes on.',
  17: 'Each side counts its own ids.',
  19: 'The error goes on as it is.',
  21: 'The server carries the call out as a task. The bridge asks for its state, hands on its questions, and answers with its result.',
};

const NOTES: Readonly<Record<LensCell, Readonly<Record<number, string>>>> = {
  'legacy → legacy': {},
  'modern → modern': {
    4: 'The round passes through. The bridge seals the state of the server into its own.',
  },
  'modern → legacy': {
    1: 'The handshake was made once for this connection. A modern client says in each request who it is and what it can do.',
    2: 'A legacy server is told once what its client can do, and a modern one in each request.',
    3: 'A modern result says that it is complete, who answered, and how long it may be kept. A legacy server says none of it.',
    4: 'A question of a legacy server becomes a round for a modern client: an input_required result, and the call again with the answers.',
    12: 'A modern client asks for logs in each request. The level of the legacy session is lowered as far as any request asks.',
    19: 'Codes that mean something else in the modern era are rewritten, with the original in data.',
  },
  'legacy → modern': {
    1: 'A legacy client has said who it is once, in initialize. The bridge repeats it in each request to a modern server.',
    2: 'What the legacy client declared once goes with each request to a modern server.',
    3: 'A legacy client does not know resultType, ttlMs and cacheScope. They are taken off.',
    4: 'A round of a modern server becomes questions to a legacy client. The answers go back in the same call, made again.',
    12: 'The level of the legacy session goes with each request.',
    19: 'Codes that only modern clients know become -32603, with the original in data.',
  },
};

/** Why two frames differ at a place. */
export function differenceAt(
  pointer: string,
  where: 'client' | 'upstream' | 'both',
  cell: LensCell,
): { readonly row: number; readonly say: string } {
  const found = PLACES.find(({ place }) => place.test(pointer));
  if (found) return { row: found.row, say: found.say ?? noteFor(cell, found.row) };
  return {
    row: 17,
    say: where === 'both' ? 'The bridge has changed this value.' : 'Only one of the sides has it.',
  };
}

const PLACES: readonly { readonly place: RegExp; readonly row: number; readonly say?: string }[] = [
  { place: /^\/id$/, row: 17, say: 'Each side counts its own ids.' },
  { place: /clientCapabilities/, row: 2 },
  { place: /protocolVersion|clientInfo/, row: 1 },
  { place: /logLevel/, row: 12 },
  { place: /progressToken/, row: 15, say: 'Each side has its own progress tokens.' },
  { place: /^\/params\/(inputResponses|requestState)/, row: 4 },
  { place: /^\/result\/(inputRequests|requestState)/, row: 4 },
  { place: /^\/result\/(resultType|ttlMs|cacheScope)/, row: 3 },
  { place: /serverInfo/, row: 3, say: 'A modern result names the server that answered.' },
  { place: /^\/params\/_meta$/, row: 1 },
  { place: /^\/result\/_meta$/, row: 3, say: 'A modern result names the server that answered.' },
  { place: /^\/error\//, row: 19 },
  { place: /^\/params\/requestId$/, row: 17, say: 'The cancellation names the id of its own side.' },
];
