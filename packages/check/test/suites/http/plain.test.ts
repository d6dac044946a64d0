import { expectCaught } from '../../support/suites/expect-caught.js';
import { httpBodyMutants } from '../mutants/http-bodies.js';
import { httpOriginMutants } from '../mutants/http-origin.js';
import { httpPlainMutants } from '../mutants/http-plain.js';

expectCaught('the checks of origins', httpOriginMutants);
expectCaught('the checks of bodies', httpBodyMutants);
expectCaught('the checks of plain HTTP', httpPlainMutants);
