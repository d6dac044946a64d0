import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { pingMutants } from '../../mutants/ping.js';

expectCaught('the checks of ping', pingMutants);
expectSound('the checks of ping', ['ping/*']);
