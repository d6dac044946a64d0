import { expectCaught } from '../../support/suites/expect-caught.js';
import { httpHeaderMutants } from '../mutants/http-headers.js';
import { httpParamMutants } from '../mutants/http-params.js';
import { httpStatusMutants } from '../mutants/http-status.js';

expectCaught('the checks of headers', httpHeaderMutants);
expectCaught('the checks of parameters in headers', httpParamMutants);
expectCaught('the checks of statuses and streams', httpStatusMutants);
