import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { questionsMutants } from '../../mutants/questions.js';

expectCaught('the checks of questions', questionsMutants);
expectSound('the checks of questions', ['questions/*']);
