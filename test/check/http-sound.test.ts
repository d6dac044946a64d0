import { describe, expect, it } from 'vitest';
import { httpChecks } from '../../src/check/suites/http/index.js';
import { httpBodyMutants } from './mutants/http-bodies.js';
import { httpClientMutants } from './mutants/http-clients.js';
import { httpHeaderMutants } from './mutants/http-headers.js';
import { httpOriginMutants } from './mutants/http-origin.js';
import { httpParamMutants } from './mutants/http-params.js';
import { httpPlainMutants } from './mutants/http-plain.js';
import { httpSessionMutants } from './mutants/http-sessions.js';
import { httpStatusMutants } from './mutants/http-status.js';
import { expectSoundAt } from './support/expect-caught.js';
import { small, smallAt, smallGuarded, smallModern, smallWithSse } from './support/http-bases.js';
import { demoHttpTarget } from './support/http-proxy.js';

expectSoundAt('the checks of HTTP', ['http-*'], { 'the demo': demoHttpTarget });
expectSoundAt('the checks of headers', ['http-params/*'], { 'a server that mirrors arguments': small });
expectSoundAt('the checks of one era', ['http-modern/*', 'http-headers/version-*'], {
  'a server of the modern era': smallModern,
});
expectSoundAt('the checks of sessions', ['http-session/*', 'http-legacy/*', 'http-clients/*'], {
  'a server without sessions': smallAt({ legacy: 'stateless' }),
});
expectSoundAt('the checks of streams', ['http-resume/*', 'http-streams/*', 'tools/*'], {
  'a server that lets streams go early': smallAt({ pollAfterMs: 5 }),
});
expectSoundAt('the checks of old clients', ['http-sse/*'], { 'a server that serves them': smallWithSse });
expectSoundAt('the checks of strangers', ['http-auth/*'], { 'a server that asks for a token': smallGuarded });

describe('the checks of HTTP', () => {
  it('each have a mutant', () => {
    const mutants = [
      ...httpBodyMutants,
      ...httpClientMutants,
      ...httpHeaderMutants,
      ...httpOriginMutants,
      ...httpParamMutants,
      ...httpPlainMutants,
      ...httpSessionMutants,
      ...httpStatusMutants,
    ];
    const caught = new Set(mutants.map(({ check }) => check));
    expect(httpChecks.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
