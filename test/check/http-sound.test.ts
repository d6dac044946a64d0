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
import { smallAt, smallGuarded, smallModern, smallWithSse } from './support/http-bases.js';
import { demoHttpTarget } from './support/http-proxy.js';

expectSoundAt('the checks of HTTP', ['http-*'], {
  'the demo': demoHttpTarget,
  'a server of the modern era only': smallModern,
  'a server without sessions': smallAt({ legacy: 'stateless' }),
  'a server that also serves clients of 2024-11-05': smallWithSse,
  'a server that asks for a token': smallGuarded,
  'a server that lets streams go early': smallAt({ pollAfterMs: 5 }),
});

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
