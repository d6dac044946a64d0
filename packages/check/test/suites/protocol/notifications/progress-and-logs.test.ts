import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { loggingMutants } from '../../mutants/logging.js';
import { progressMutants } from '../../mutants/progress.js';

expectCaught('the checks of progress', progressMutants);
expectCaught('the checks of logs', loggingMutants);
expectSound('the checks of progress and logs', ['progress/*', 'logging/*']);
