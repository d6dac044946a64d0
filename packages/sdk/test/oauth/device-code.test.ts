import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { describe, expect, it } from 'vitest';
import {
  asMetadata,
  CHALLENGE,
  failureOf,
  ISSUER,
  loginStage,
  SERVER,
} from '../../../../test/support/scripted-authorization-server.js';

/** A stage where the user enters the code after some questions for the token. Time passes at once. */
function deviceStage(answers: readonly object[], device: object = {}) {
  const stage = loginStage();
  const time = { now: 0 };
  const waits: number[] = [];
  const clock = {
    ...systemClock,
    now: () => time.now,
    after(ms: number, action: () => void) {
      waits.push(ms);
      time.now += ms;
      return systemClock.after(0, action);
    },
  };
  const metadata = asMetadata({ device_authorization_endpoint: `${ISSUER}/device` });
  stage.answers.set(`${ISSUER}/.well-known/oauth-authorization-server`, () => Response.json(metadata));
  const given = { device_code: 'device-secret', user_code: 'ABCD', verification_uri: `${ISSUER}/enter` };
  stage.answers.set(`${ISSUER}/device`, () => Response.json({ ...given, interval: 5, ...device }));
  const left = [...answers];
  const good = stage.answers.get(`${ISSUER}/token`)!;
  stage.answers.set(`${ISSUER}/token`, (request) => {
    const next = left.shift();
    return next ? Response.json(next, { status: 400 }) : good(request);
  });
  const shown: string[] = [];
  const auth = stage.login({
    clock,
    grant: 'device-code',
    ask: { showCode: ({ userCode, page }) => void shown.push(`${userCode} ${page.href}`) },
  });
  return { stage, auth, waits, shown };
}

describe('a login by device code', () => {
  it('shows the code, and asks more slowly when it is told to', async () => {
    const answers = [{ error: 'authorization_pending' }, { error: 'slow_down' }];
    const { stage, auth, waits, shown } = deviceStage(answers);
    const status = await (await auth.login(SERVER)).login(CHALLENGE);
    expect(status).toMatchObject({ state: 'valid', clientId: 'client-1' });
    expect(shown).toEqual([`ABCD ${ISSUER}/enter`]);
    expect(waits).toEqual([5000, 5000, 10_000]);
    expect(stage.pages).toEqual([]);
  });

  it('ends when the user refuses, or the code is over', async () => {
    const refused = deviceStage([{ error: 'access_denied' }]);
    expect(await failureOf((await refused.auth.login(SERVER)).login(CHALLENGE))).toContain('access_denied');
    const pending = Array.from({ length: 20 }, () => ({ error: 'authorization_pending' }));
    const late = deviceStage(pending, { expires_in: 30 });
    const failure = await failureOf((await late.auth.login(SERVER)).login(CHALLENGE));
    expect(failure).toContain('The code was not entered in time');
    expect(failure).not.toContain('device-secret');
  });

  it('does not show a page that cannot be opened safely', async () => {
    const { auth, shown } = deviceStage([], { verification_uri: 'javascript:alert(1)' });
    const failure = await failureOf((await auth.login(SERVER)).login(CHALLENGE));
    expect(failure).toContain('no page that can be used');
    expect(shown).toEqual([]);
  });
});
