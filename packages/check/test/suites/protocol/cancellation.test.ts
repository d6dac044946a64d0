import { cancellationMutants } from '../mutants/cancellation.js';
import { expectCaught, expectSound } from '../support/expect-caught.js';

expectCaught('the checks of cancellation', cancellationMutants);
expectSound('the checks of cancellation', ['cancellation/*']);
