import { decidesEra, describe } from '../../era/classify/classify-probe.js';
import type { NegotiatedConnection } from '../../era/client/negotiated-connection.js';
import { isLegacyRevision, type LegacyRevision, newestSession, REVISION_TABLE } from '../../era/revisions.js';
import { IsthmusError, ProtocolError } from '../../errors.js';
import type { ServerFacts } from '../../exchange/call.js';
import { isJsonObject, type JsonObject, notificationMessage, requestMessage } from '../../wire/json-rpc.js';
import type { Implementation, ServerCapabilities } from '../../wire/model.js';
import type { ConnectSettings } from '../options.js';

/** A session that the server has agreed to. */
export interface Handshaken {
  readonly revision: LegacyRevision;
  readonly server: ServerFacts;
}

/**
 * Opens a legacy session. If the server refuses the revision and names others (the error example in all four legacy
 * specifications), the newest common one is offered, once. Rejects with the server's own error.
 */
export async function initialize(
  connection: NegotiatedConnection,
  settings: ConnectSettings,
  offered: LegacyRevision,
  timeoutMs: number,
): Promise<Handshaken> {
  let result: JsonObject;
  try {
    result = await request(connection, settings, offered, timeoutMs);
  } catch (error) {
    const named = namedVersions(error);
    const other = newestSession(named);
    if (!other || other === offered || settings.mode === offered) throw error;
    result = await request(connection, settings, other, timeoutMs);
  }
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  if (!isLegacyRevision(protocolVersion)) {
    const message =
      `initialize was answered with the revision ${JSON.stringify(protocolVersion)}, which this client does not ` +
      `speak; it offered ${offered}. It speaks ${REVISION_TABLE}`;
    throw new IsthmusError('INVALID_RESULT', message, { sent: 'no' });
  }
  connection.connection.send(notificationMessage('notifications/initialized'));
  return {
    revision: protocolVersion,
    server: {
      info: isJsonObject(serverInfo) ? (serverInfo as unknown as Implementation) : undefined,
      capabilities: isJsonObject(capabilities) ? (capabilities as ServerCapabilities) : {},
      instructions: typeof instructions === 'string' ? instructions : undefined,
    },
  };
}

/** The versions that an error names in `data.supported`, whatever its code. */
export function namedVersions(error: unknown): unknown[] {
  if (!(error instanceof ProtocolError) || !isJsonObject(error.data)) return [];
  const { supported } = error.data;
  return Array.isArray(supported) ? supported : [];
}

/** For an error message: the refusal, and the revisions that the server speaks. */
export function describeRefusal(error: ProtocolError): string {
  const named = namedVersions(error);
  return `it refused initialize with ${describe(error)}${named.length > 0 ? `; it speaks ${named.join(', ')}` : ''}`;
}

function request(
  connection: NegotiatedConnection,
  { info, capabilities }: ConnectSettings,
  protocolVersion: LegacyRevision,
  timeoutMs: number,
): Promise<JsonObject> {
  const params = { protocolVersion, capabilities, clientInfo: info };
  return connection.requests.request({
    what: 'initialize',
    timeoutMs,
    send: (id) => connection.connection.send(requestMessage(id, 'initialize', params)),
    giveUp: () => {}, // INIT-014: initialize is never cancelled
  });
}

/** The server refused `initialize`. */
export type RefusedInitialize = ProtocolError | IsthmusError;

export function isRefusal(error: unknown): error is RefusedInitialize {
  if (error instanceof ProtocolError) return error.status === undefined || decidesEra(error.status);
  return error instanceof IsthmusError && error.code === 'HTTP_STATUS' && decidesEra(error.status!);
}

export function refusalText(error: RefusedInitialize): string {
  return error instanceof ProtocolError ? describe(error) : `HTTP ${error.status}`;
}
