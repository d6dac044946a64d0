import { browse } from '../../../../test/support/authorization-server.js';
import { type Answer, modernCall } from '../../../sdk/test/support/http-server.js';
import { bearer } from './auth.js';
import type { House } from './secured-gateway.js';

/** The user of a modern client that can show URLs. */
export const CAN_VISIT = { elicitation: { url: {} } };

/** The questions of an answer, with the state to come back with. */
export function questionIn({ json }: Answer): { id: string; url: string; message: string; state: unknown } {
  const { inputRequests, requestState: state } = json.result as unknown as {
    inputRequests: Record<string, { params: { url: string; message: string } }>;
    requestState: unknown;
  };
  const [[id, { params }] = ['', { params: { url: '', message: '' } }]] = Object.entries(inputRequests);
  return { id, url: params.url, message: params.message, state };
}

export function callAs(
  house: House,
  path: string,
  token: string,
  tool: string,
  params: object = {},
): Promise<Answer> {
  const options = { headers: bearer(token), capabilities: CAN_VISIT, params };
  return house.ask(path, modernCall(1, tool, {}, options));
}

/** The next round of the same call: the user has agreed to open the page. */
export function acceptedAs(
  house: House,
  path: string,
  token: string,
  tool: string,
  { id, state }: { id: string; state: unknown },
): Promise<Answer> {
  const inputResponses = { [id]: { action: 'accept' } };
  return callAs(house, path, token, tool, { inputResponses, requestState: state });
}

/** The same: the user does not want to open the page. */
export function declinedAs(
  house: House,
  path: string,
  token: string,
  tool: string,
  { id, state }: { id: string; state: unknown },
): Promise<Answer> {
  const inputResponses = { [id]: { action: 'decline' } };
  return callAs(house, path, token, tool, { inputResponses, requestState: state });
}

/** A browser in front of the pages of a gateway. */
export class Browser {
  readonly cookies = new Map<string, string>();

  open(url: string) {
    return browse(url, { cookies: this.cookies, resolve: (each) => this.resolve(each) });
  }

  /** Where a URL leads. */
  resolve(url: URL): URL {
    return url;
  }

  /** Fills in the form of a page and sends it: to where the form goes, or where another button of it goes. */
  async send(page: { text: string; url: string }, fields: Record<string, string> = {}, button?: string) {
    const form = new URLSearchParams();
    for (const [, name = '', value = ''] of page.text.matchAll(/name="(\w+)" value="([^"]*)"/g)) {
      form.set(name, value);
    }
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    const action = button ?? /action="([^"]*)"/.exec(page.text)?.[1] ?? '';
    if (button !== undefined && !page.text.includes(`<button formaction="${button}">`))
      throw new Error(`There is no button ${button}`);
    const resolve = (each: URL) => this.resolve(each);
    return browse(new URL(action, page.url), { cookies: this.cookies, form, resolve });
  }
}
