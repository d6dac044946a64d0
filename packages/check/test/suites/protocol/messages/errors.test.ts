import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { errorMutants, resultMutants } from '../../mutants/errors.js';

expectCaught('the checks of errors', errorMutants);
expectCaught('the checks of results', resultMutants);
expectSound('the checks of errors and results', ['errors/*', 'results/*']);
