import { pingMutants } from '../mutants/ping.js';
import { expectCaught, expectSound } from '../support/expect-caught.js';

expectCaught('the checks of ping', pingMutants);
expectSound('the checks of ping', ['ping/*']);
