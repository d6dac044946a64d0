import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { LoginStatus } from '@isthmus/sdk/internal/oauth/login-status.js';
import { askControl, isUnreachable, linesOf, openControlRequest } from '../control/index.js';
import { PARAMS_HEADER, parseJson, toHeader } from '../control/protocol.js';
import { daemonSocket } from '../daemon/daemon-paths.js';
import type { EndedLogins, IssuedHeader, LoginEvent, LoginManager } from './login-manager.js';

/** The logins of the daemon that listens at a socket. */
export function daemonLoginManager(socket: string): LoginManager {
  const ask = (action: string, params: unknown, ms = QUICK_MS) =>
    askControl(socket, `POST /logins/${action}`, { ms, params });
  return {
    async authorization(target) {
      const issued = await ask('authorization', target, RENEWAL_MS);
      return issued as IssuedHeader;
    },
    refused: async (target, refusal) => (await ask('refused', { ...target, refusal }, RENEWAL_MS)) === true,
    async *begin(request, signal) {
      const headers = { [PARAMS_HEADER]: toHeader(request) };
      const { response } = await openControlRequest(socket, 'POST /logins/begin', {
        ...{ ms: RENEWAL_MS, headers, signal },
      });
      for await (const line of linesOf(response)) yield parseJson(line) as LoginEvent;
    },
    async opened(url) {
      await ask('opened', { url });
    },
    async finish(url, response) {
      await ask('finish', { url, response });
    },
    async list() {
      const found = await askControl(socket, 'GET /logins', { ms: QUICK_MS });
      return found as readonly LoginStatus[];
    },
    async end(url, forgetClient) {
      const ended = await ask('end', { url, forgetClient }, RENEWAL_MS);
      return ended as EndedLogins;
    },
  };
}

/** The logins of the daemon of this user. Undefined: none runs. */
export function runningLoginManager(): LoginManager | undefined {
  const socket = daemonSocket();
  return socket === undefined ? undefined : daemonLoginManager(socket);
}

/** Whether a daemon is gone, or of a version without logins. Then the store is used without it. */
export function hasNoLogins(error: unknown): boolean {
  if (isUnreachable(error)) return true;
  if (!(error instanceof IsthmusError)) return false;
  return NO_LOGINS.has(error.code) || (error.code === 'INVALID_OPTION' && error.status === 404);
}

/** The daemon has just ended, or is another one. */
const NO_LOGINS: ReadonlySet<string> = new Set(['CONNECTION_CLOSED', 'NO_COMMON_REVISION']);

const QUICK_MS = 10_000;
/** A renewal may wait for another process, and takes at most two requests of 10 s. */
const RENEWAL_MS = 60_000;
