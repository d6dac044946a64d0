/**
 * `run.js --auth`: what a login costs each request while its token is good. Nothing is renewed, read or awaited then, so this
 * is the whole difference to a request without a login.
 */

import { oauth } from '@isthmus/sdk';
import { createProgress } from '../lib/progress.js';
import { median } from '../lib/statistics.js';
import { align } from '../lib/text.js';
import { verdict } from '../lib/verdicts.js';

const CALLS = 1_000_000;

/** @type {import('./index.js').Mode} */
export const AUTH = {
  name: 'auth',
  takesEra: false,

  async measure({ quick }) {
    const login = await loggedIn();
    const rounds = quick ? 3 : 11;
    const progress = createProgress(process.stderr, rounds);
    /** @type {number[]} */
    const micros = [];
    for (let round = 0; round < rounds; round += 1) {
      progress.next(`auth ${round + 1} of ${rounds}`);
      micros.push(cpuMicrosPerCall(login));
    }
    progress.end();
    return { document: { micros }, failed: false };
  },

  judge({ micros }) {
    return [
      verdict({
        ...{ mode: 'auth', what: 'CPU that a login adds to a request', where: 'a token that is good' },
        ...{ unit: 'µs', limit: 1, required: false, value: micros && median(micros) },
      }),
    ];
  },

  render({ micros }) {
    return align([
      ['login', 'CPU, µs per request'],
      ['oauth(), a token that is good', median(micros).toFixed(3)],
    ]);
  },
};

/** A login that an authorization server without a network has given. */
async function loggedIn() {
  const token = { access_token: 'a'.repeat(1000), token_type: 'bearer', expires_in: 86_400 };
  const auth = oauth({
    ...{ grant: 'client-credentials', clientId: 'bench', clientSecret: 'bench' },
    tokenEndpoint: 'https://login.example/token',
    fetch: async (url) =>
      String(url).endsWith('/token') ? Response.json(token) : new Response('', { status: 404 }),
  });
  const login = await auth.login('https://server.example/mcp');
  await login.login();
  return login;
}

/** @param {{ authorization(): unknown }} login */
function cpuMicrosPerCall(login) {
  const before = process.cpuUsage();
  let headers = 0;
  for (let call = 0; call < CALLS; call += 1) {
    if (typeof login.authorization() === 'string') headers += 1;
  }
  const { user, system } = process.cpuUsage(before);
  if (headers !== CALLS) throw new Error('The token was renewed while it was measured');
  return (user + system) / CALLS;
}
