import type { Era } from './clients/witness.js';
import type { Difference } from './compare.js';

/** Who is sent through the bridge to what. */
export interface Cell {
  readonly server: string;
  readonly client: string;
  readonly era: Era;
  readonly far: Era;
  readonly over: 'http' | 'stdio';
  /** Without a bridge the server does not speak the era of the client; it is compared with one of the other era. */
  readonly crossEra: boolean;
}

/** A difference that remains: what a client notices, and why it cannot be otherwise or should not be. */
export interface Known {
  readonly id: string;
  readonly what: string;
  readonly why: string;
  /** Where it is to be seen. Nowhere else may it be. */
  where(cell: Cell): boolean;
  /** It depends on who is faster. */
  readonly sometimes?: true;
  matches(difference: Difference): boolean;
}

const isEverything = ({ server }: Cell) => server.startsWith('everything');
const isRaw = ({ client }: Cell) => client.startsWith('raw');
const isShared = ({ over }: Cell) => over === 'http';

export const DIFFERENCES: readonly Known[] = [
  {
    id: 'envelope',
    what: 'Results have `resultType`, `ttlMs`, `cacheScope` and the name of the server in `_meta`, or have not; news name the subscription, or do not',
    why: 'they belong to the revision that the client speaks, not to the server',
    where: ({ crossEra }) => crossEra,
    matches: ({ path, direct, bridged }) =>
      /\.(resultType|ttlMs|cacheScope)$/.test(path) ||
      /\._meta\.io\.modelcontextprotocol\/\w+$/.test(path) ||
      (/\.(_meta|params)$/.test(path) && isEnvelope(direct ?? bridged)),
  },
  {
    id: 'tasks',
    what: 'Tasks are announced in the form of the era of the client, `tasks.list` only to an authenticated client, and every tool of a modern server with tasks as `execution.taskSupport: "optional"`',
    why: 'the tasks of a client belong to the bridge: the two eras have different protocols for them',
    where: ({ server, era, far }) =>
      server.startsWith('everything') ||
      (server === 'filesystem' && era === 'modern') ||
      (server === 'demo' && era === 'legacy' && far === 'modern'),
    matches: ({ path }) =>
      /\.capabilities\.(tasks(\.list)?|extensions)$|\.execution(\.taskSupport)?$/.test(path),
  },
  {
    id: 'only-as-task',
    what: 'A tool that can only be called as a task answers to a plain call',
    why: 'the bridge runs the task and waits for its result, so that clients without tasks can use the tool',
    where: ({ server, client }) => server === 'everything' && client === 'own-legacy',
    matches: ({ step }) => step.startsWith('call simulate-research-query'),
  },
  {
    id: 'early-questions',
    what: 'A question that a server asks right after its start reaches no client (without an answer to `roots/list`, server-filesystem keeps the folders of its command line)',
    why: 'the process is started before the first client connects, and serves later clients too; a legacy client that has a process of its own (`--listen stdio`, `--processes per-conversation`) gets the question',
    where: (cell) =>
      /^(everything|filesystem)$/.test(cell.server) && (isShared(cell) || cell.era === 'modern'),
    matches: ({ step, path }) =>
      (step === 'roots' || step === 'call get-roots-list') &&
      /^(asked|told (log|notifications\/message))$/.test(path),
  },
  {
    id: 'early-news',
    what: 'Notifications from before the client connected are not sent',
    why: 'there was no client; the lists that the client then reads are the new ones',
    where: (cell) => isEverything(cell) && (isShared(cell) || isRaw(cell)),
    sometimes: true,
    matches: ({ step, path, direct }) =>
      /^(roots|list tools)$/.test(step) && /tools\/list_changed/.test(path + JSON.stringify(direct)),
  },
  {
    id: 'place-of-news',
    what: 'A notification of changed lists or resources may arrive after an answer that the server sent later',
    why: 'notifications belong to no call, and neither era promises an order between the two',
    where: ({ over, crossEra }) => over === 'stdio' && !crossEra,
    sometimes: true,
    matches: ({ path }) => /^place(\.\d+)?$/.test(path),
  },
  {
    id: 'all-capabilities',
    what: 'A server that offers tools by the capabilities of its client offers all of them; what the client does not support is refused when the server asks for it',
    why: 'one process serves all clients and gets capabilities once; with a process for each client (`--listen stdio`, `--processes per-conversation`) it gets exactly those of its client',
    where: (cell) => cell.server === 'everything-poor' && isShared(cell),
    matches: ({ step, path }) =>
      (step === 'list tools' && /\.tools\.\d+/.test(path) && !path.endsWith('.execution')) ||
      step === 'call trigger-elicitation-request',
  },
  {
    id: 'asked-for-progress',
    what: 'A question has `_meta.progressToken`, though the server gave it none',
    why: 'tokens are valid for one hop; the bridge always sends one, which keeps slow answers alive',
    where: (cell) => isRaw(cell) && cell.era === 'legacy' && /^(everything|filesystem)$/.test(cell.server),
    matches: ({ path }) => /\.message\.params(\._meta)?$/.test(path),
  },
  {
    id: 'not-offered',
    what: 'What a server does not offer is refused with "Method not found: resources/list", whatever text the server uses',
    why: 'the bridge knows it from the capabilities and does not call the server',
    where: ({ server }) => server === 'filesystem',
    matches: ({ step, path }) => /^list (resources|prompts)$/.test(step) && /\.error\.|^error\./.test(path),
  },
  {
    id: 'unknown-method-404',
    what: 'Over HTTP the official v2 client takes -32601 for a failure of the transport',
    why: 'the revision wants status 404 for a method that is not known; the code is in the body',
    where: ({ server, client }) => client === 'v2-modern' && server !== 'everything-poor',
    matches: ({ step, path }) => step === 'a method that nobody knows' && path.startsWith('error.0.'),
  },
  {
    id: 'cancelled-is-silent',
    what: 'Messages of a server about a cancelled call are not passed on',
    why: 'the client does not wait for them (CANC-007)',
    where: (cell) => cell.server === 'everything' && isRaw(cell),
    matches: ({ step, bridged }) => step === 'after being cancelled' && bridged === false,
  },
  {
    id: 'unasked-news',
    what: 'Modern clients are notified of changed lists only while they listen',
    why: 'the modern era works this way',
    where: ({ server, client }) => server === 'everything' && client === 'v2-modern',
    matches: ({ path, bridged }) =>
      /^told notifications\/resources\/list_changed/.test(path) && bridged === undefined,
  },
  {
    id: 'logs-of-no-call',
    what: 'Modern clients get only the logs of their own calls, and only if they name a level',
    why: 'the modern era works this way',
    where: ({ server, era }) => server === 'everything' && era === 'modern',
    matches: ({ path, bridged }) => /^told (notifications\/message|log)/.test(path) && bridged === undefined,
  },
  {
    id: 'no-elicitation-id',
    what: 'Questions to open a page come without `elicitationId`',
    why: 'the modern era has none (ELIC-007)',
    where: ({ server, era }) => server === 'everything' && era === 'modern',
    matches: ({ path }) => /^asked\.\d+\.params\.elicitationId$/.test(path),
  },
  {
    id: 'pages-before-a-call',
    what: 'A call that a legacy server refuses with -32042 until pages have been visited does not fail, the client is asked to visit them and the call is made again',
    why: 'the modern era has a question instead of this error',
    where: ({ server, era }) => server === 'everything' && era === 'modern',
    matches: ({ step }) => /^call trigger-url-elicitation .*errorPath/.test(step),
  },
  {
    id: 'resource-not-found',
    what: 'A resource that does not exist is -32002 for legacy clients and -32602 for modern clients',
    why: 'each era has its own code for it',
    where: ({ server, crossEra }) => server === 'official-modern' && crossEra,
    matches: ({ step, path, bridged }) =>
      step === 'read nothing' && path.endsWith('.code') && bridged === -32002,
  },
  {
    id: 'names-of-questions',
    what: 'The questions of a legacy server are called `elicitation-1`, `sampling-2`, `roots-3`',
    why: 'the questions of the legacy era have no names',
    where: ({ server, client }) => server === 'demo-legacy' && client === 'raw-modern',
    matches: ({ path }) => /\.inputRequests\./.test(path),
  },
  {
    id: 'sealed-state',
    what: '`requestState` is not the one of the server',
    why: 'the bridge seals it again for its client; the server gets its own state back',
    where: ({ server, client }) => server === 'official-modern' && client === 'raw-modern',
    matches: ({ path }) => path.endsWith('.requestState'),
  },
];

/** `_meta`, or params with nothing but `_meta`, that holds nothing else than what the modern era puts there. */
function isEnvelope(value: unknown): boolean {
  const { _meta = value } = value as { _meta?: unknown };
  return Object.keys(_meta as object).every((key) => key.startsWith('io.modelcontextprotocol/'));
}
