import type { HttpExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';
import { type ConsentPlan, shownScopes } from './browser-logins.js';

/** Answers with a page that loads nothing, runs nothing, and cannot be put into a frame (AUTH-G-005). */
export function showPage(exchange: HttpExchange, status: number, body: string, cookie?: string): void {
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Connect</title><style>body{font:1rem/1.5 system-ui;max-width:34rem;margin:4rem auto;padding:0 1rem}button,input{font:inherit;padding:.4rem .8rem}</style>${body}</html>`;
  exchange.respond(
    status,
    {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' https: http:; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      // With `no-referrer` browsers would hide the origin of the form.
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      ...(cookie !== undefined && { 'set-cookie': cookie }),
    },
    text,
  );
}

/** Sends the browser elsewhere. */
export function sendTo(exchange: HttpExchange, url: string, cookie?: string): void {
  exchange.respond(303, {
    location: url,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    ...(cookie !== undefined && { 'set-cookie': cookie }),
  });
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

export function codeForm(ticket: string, server: string, problem: string): string {
  return `<h1>Connect ${escapeHtml(server)}</h1><p>${escapeHtml(problem)}Enter the code that your application shows.</p><form method="post" action="code"><input type="hidden" name="t" value="${escapeHtml(ticket)}"><input name="code" autocomplete="off" autofocus aria-label="Code"> <button>Go on</button></form>`;
}

export interface ConsentFacts {
  readonly login: string;
  readonly server: string;
  readonly host: string;
  readonly plan: ConsentPlan | undefined;
  readonly principal: string;
  readonly clientId: string | undefined;
  readonly redirectUri: string;
}

/** Says which client asks, at which server, for which scopes, and where the browser returns to (AUTH-G-005). */
export function consentForm(facts: ConsentFacts): string {
  const { login, server, host, plan, principal, clientId, redirectUri } = facts;
  const client = clientId === undefined ? 'Your application' : escapeHtml(clientId);
  const wish = `${client} wants to use <b>${escapeHtml(host)}</b> in your name, through this gateway${scopesOf(plan)}.`;
  const isThere = plan !== undefined && plan.issuer === undefined;
  const next = isThere
    ? 'You are logged in there already.'
    : `The next page is that of ${escapeHtml(plan?.issuer ?? host)}. It comes back to ${escapeHtml(redirectUri)}.`;
  return `<h1>Connect ${escapeHtml(server)}</h1><p>${wish} You are <b>${escapeHtml(principal)}</b>. ${next}</p><form method="post" action="consent"><input type="hidden" name="login" value="${escapeHtml(login)}"><button>Go on</button> <button formaction="refuse">Do not connect</button></form><p>Close this page if you have not asked for this.</p>`;
}

function scopesOf(plan: ConsentPlan | undefined): string {
  if (!plan) return '';
  if (plan.scopes.length === 0) return '. It names no scopes';
  const shown = shownScopes(plan).map((each) => `<b>${escapeHtml(each)}</b>`);
  const more = plan.scopes.length - shown.length;
  return `, with the scopes ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
