import { randomUUID } from 'node:crypto';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type {
  AccessRequest,
  Authorize,
  Denial,
  RequestedMessage,
} from '@isthmus/sdk/internal/transport/http-server/admission/authorize.js';
import type { AccessCaller, AccessPolicy } from './access-policy.js';
import { listFor, type ToolHints } from './tool-hints.js';

/** A server whose tools are called at an endpoint. */
export interface AccessServer {
  readonly name: string;
  /** Without the stages around it: its lists are read before it is known what the caller may do. */
  readonly bare: Service;
  readonly hints: ToolHints;
}

export interface AuthorizeOptions {
  readonly access: AccessPolicy;
  /** The only server of the endpoint. Undefined: all of them are there. */
  readonly server?: AccessServer | undefined;
  /** The server that a merged name or a URI belongs to, and the name of a tool there. Undefined: it is not about one server. */
  find?(message: RequestedMessage, caller: AccessCaller): TargetServer | undefined;
  /** Reads the lists that tell `find` which servers these messages are for. Undefined: they would tell nothing more. */
  learn?(request: AccessRequest): Promise<unknown> | undefined;
  /** Told of every refusal. Returns the id by which the log knows it. */
  onDenied?(denied: DeniedRequest): string;
  /** Told of every request that authentication has refused. */
  onRefused?: Authorize['onRefused'] | undefined;
}

export interface TargetServer {
  readonly server: AccessServer;
  readonly tool: string | undefined;
}

export interface DeniedRequest {
  readonly request: AccessRequest;
  readonly server: string | undefined;
  readonly message: RequestedMessage | undefined;
  readonly tool: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly correlationId: string;
}

/** Decides about the requests of one HTTP endpoint. All messages of a batch count together. */
export function createAuthorize(options: AuthorizeOptions): Authorize {
  const { access, server } = options;
  return {
    basicScopes: () => access.scopesOf(server?.name).all,
    isIdle: () => access.isEmpty,
    ...(options.onRefused && { onRefused: options.onRefused }),
    decide(request) {
      const caller = { principal: request.principal, scopes: request.grant?.scopes };
      if (server && !access.allowsEntry(caller, server.name)) return closed(options, request);
      if (!access.hasScopes || caller.principal === undefined) return undefined;
      // A caller that is not let in at all makes the gateway do nothing at a server in its name.
      const isOut = !access.covers(caller, request.grant?.requiredScopes ?? []);
      const reading = server || isOut ? undefined : options.learn?.(request);
      return reading
        ? reading.then(() => decideFor(options, request, caller, isOut))
        : decideFor(options, request, caller, isOut);
    },
  };
}

function decideFor(
  options: AuthorizeOptions,
  request: AccessRequest,
  caller: AccessCaller,
  isOut: boolean,
): Denial | undefined | Promise<Denial | undefined> {
  const targets = request.messages.map((message) => targetOf(options, message, caller));
  const decided = judge(options, request, targets, caller, false);
  if (decided !== 'unknown') return decided;
  return readHints(targets, request, isOut).then(
    () => judge(options, request, targets, caller, true) as Denial | undefined,
  );
}

interface Target {
  readonly message: RequestedMessage;
  readonly server: AccessServer | undefined;
  readonly tool: string | undefined;
}

function targetOf(
  { server, find }: AuthorizeOptions,
  message: RequestedMessage,
  caller: AccessCaller,
): Target {
  if (server) return { message, server, tool: toolIn(message) };
  const found = find?.(message, caller);
  return { message, server: found?.server, tool: found?.tool };
}

/** The name of the tool that a message calls. */
export function toolIn({ method, params }: RequestedMessage): string | undefined {
  const name = method === 'tools/call' ? params?.['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** `unknown`: it depends on what a tool says about itself, and no list has been read yet. */
function judge(
  options: AuthorizeOptions,
  request: AccessRequest,
  targets: readonly Target[],
  caller: AccessCaller,
  isFinal: boolean,
): Denial | undefined | 'unknown' {
  const { access, server } = options;
  let all: readonly string[] = targets.length === 0 ? access.scopesOf(server?.name).all : [];
  let refused: Target | undefined;
  for (const target of targets) {
    const { message, server: at, tool } = target;
    // The caller does not learn which scopes something needs that it may not know of.
    if (at && tool !== undefined && !access.allowsTool(caller, at.name, tool)) continue;
    if (at && !server && tool === undefined && !access.allowsRest(caller, at.name)) continue;
    const isReadOnly = () => at?.hints.isReadOnly(tool!) ?? (isFinal ? false : undefined);
    const needed = access.scopesOf(at?.name).neededFor(message.method, tool, isReadOnly);
    if (!needed) return 'unknown';
    if (!access.covers(caller, needed)) refused ??= target;
    all = all.length === 0 ? needed : [...new Set([...all, ...needed])];
  }
  const { requiredScopes = [] } = request.grant ?? {};
  if (access.covers(caller, all) && access.covers(caller, requiredScopes)) return undefined;
  // AUTH-S-008: consistently all scopes, so that a client that asks for nothing else gets through.
  return insufficient(options, request, refused ?? targets[0], [...new Set([...requiredScopes, ...all])]);
}

async function readHints(targets: readonly Target[], request: AccessRequest, isOut: boolean): Promise<void> {
  const mayRead = ({ hints }: AccessServer) => !(isOut && hints.isApart);
  const servers = new Set(
    targets.flatMap(({ server, tool }) => (server && tool !== undefined && mayRead(server) ? [server] : [])),
  );
  const { principal, remote } = request;
  await Promise.all(
    [...servers].map(({ hints, bare }) => hints.read(listFor(bare, principal, remote), principal)),
  );
}

function insufficient(
  { onDenied, server }: AuthorizeOptions,
  request: AccessRequest,
  target: Target | undefined,
  scopes: readonly string[],
): Denial {
  const name = target?.server?.name ?? server?.name;
  const denied = { request, server: name, message: target?.message, tool: target?.tool, scopes };
  const correlationId = tellDenied(onDenied, denied);
  return { scopes, why: `The token needs the scopes ${scopes.join(' ')}`, correlationId };
}

function closed({ onDenied, server }: AuthorizeOptions, request: AccessRequest): Denial {
  const [message] = request.messages;
  const denied = { request, server: server?.name, message, tool: undefined, scopes: undefined };
  const correlationId = tellDenied(onDenied, denied);
  return { why: 'The caller is not allowed to use this server', correlationId };
}

function tellDenied(
  onDenied: AuthorizeOptions['onDenied'],
  denied: Omit<DeniedRequest, 'correlationId'>,
): string {
  const correlationId = correlationOf(denied.request.header('traceparent'));
  return onDenied?.({ ...denied, correlationId }) ?? correlationId;
}

/** The trace that a request belongs to, or else a new id. */
export function correlationOf(traceparent: unknown): string {
  const trace =
    typeof traceparent === 'string' ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent)?.[1] : undefined;
  return trace ?? randomUUID();
}
