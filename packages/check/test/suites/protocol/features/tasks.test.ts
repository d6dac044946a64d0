import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { taskExtensionMutants, taskMutants } from '../../mutants/tasks.js';

expectCaught('the checks of tasks', taskMutants);
expectCaught('the checks of the extension for tasks', taskExtensionMutants);
expectSound('the checks of tasks', ['tasks/*']);
