import { expectCaught } from '../../support/suites/expect-caught.js';
import { httpClientMutants } from '../mutants/http-clients.js';
import { httpSessionMutants } from '../mutants/http-sessions.js';

expectCaught('the checks of sessions', httpSessionMutants);
expectCaught('the checks of clients side by side, of old clients and of strangers', httpClientMutants);
