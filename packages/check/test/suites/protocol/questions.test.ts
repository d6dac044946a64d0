import { questionsMutants } from '../mutants/questions.js';
import { expectCaught, expectSound } from '../support/expect-caught.js';

expectCaught('the checks of questions', questionsMutants);
expectSound('the checks of questions', ['questions/*']);
