import { eraMutants } from './mutants/era.js';
import { expectCaught, expectSound } from './support/expect-caught.js';

expectCaught('the checks of the eras', eraMutants);
expectSound('the checks of the eras', ['era/*']);
