import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { cancellationMutants } from '../../mutants/cancellation.js';

expectCaught('the checks of cancellation', cancellationMutants);
expectSound('the checks of cancellation', ['cancellation/*']);
