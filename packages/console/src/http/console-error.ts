import { IsthmusError, messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { ApiFailure } from '../contract.js';

/** A request of the page that fails, with its HTTP status. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly evidence: readonly string[] | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    more: { readonly hint?: string; readonly evidence?: readonly string[] } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = more.hint;
    this.evidence = more.evidence;
  }
}

export function invalid(message: string, hint?: string): ConsoleError {
  return new ConsoleError(400, 'INVALID_OPTION', message, hint === undefined ? {} : { hint });
}

export function notFound(message: string): ConsoleError {
  return new ConsoleError(404, 'NOT_FOUND', message);
}

/** The status and the body for anything that was thrown. The text of an unknown error stays here. */
export function failureFor(thrown: unknown): { readonly status: number; readonly body: ApiFailure } {
  if (thrown instanceof ConsoleError) {
    const { status, code, message, hint, evidence } = thrown;
    const more = { ...(hint !== undefined && { hint }), ...(evidence && { evidence }) };
    return { status, body: { error: { code, message, ...more } } };
  }
  if (thrown instanceof IsthmusError) {
    const { code, message, evidence } = thrown;
    const body = { error: { code, message, ...(evidence && { evidence }) } };
    return { status: code === 'INVALID_OPTION' ? 400 : code === 'BUSY' ? 503 : 409, body };
  }
  if (thrown instanceof ProtocolError)
    return { status: 409, body: { error: { code: String(thrown.code), message: thrown.message } } };
  return {
    status: 500,
    body: { error: { code: 'INTERNAL', message: `Internal error: ${messageOf(thrown)}` } },
  };
}
