import { ProtocolError } from '../errors.js';
import type { Call } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject } from '../wire/json-rpc.js';
import { asOwn } from './upstream-errors.js';

/**
 * A legacy server may refuse a call with -32042 until the user has been to some pages. A modern client has no
 * such error: it is asked to send the user there, and the call, which has not run, is made again (wire sheet §14).
 * False when the user did not go; then the refusal stands.
 */
export async function visitPages(call: Call, refusal: ProtocolError): Promise<boolean> {
  const pages = pagesOf(refusal);
  if (pages.length === 0) return false;
  const answers = await Promise.all(
    pages.map((params) => call.ask({ method: 'elicitation/create', params: { mode: 'url', ...params } })),
  ).catch((error) => {
    throw asOwn(error);
  });
  return answers.every((answer) => 'action' in answer && answer.action === 'accept');
}

export function asksForPages(error: unknown): error is ProtocolError {
  return error instanceof ProtocolError && error.code === ErrorCode.LegacyUrlElicitationRequired;
}

function pagesOf({ data }: ProtocolError): { message: string; url: string }[] {
  const list = isJsonObject(data) ? data['elicitations'] : undefined;
  return (Array.isArray(list) ? list : []).flatMap((each: unknown) => {
    if (!isJsonObject(each) || typeof each['url'] !== 'string') return [];
    const { message, url } = each;
    return [{ message: typeof message === 'string' ? message : `The server asks you to open ${url}`, url }];
  });
}
