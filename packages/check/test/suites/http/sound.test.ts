import { expectSoundAt } from '../../support/suites/expect-caught.js';
import { small, smallAt, smallGuarded, smallModern, smallWithSse } from '../../support/suites/http-bases.js';
import { demoHttpTarget } from '../../support/suites/http-proxy.js';

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
