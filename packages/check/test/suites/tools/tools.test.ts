import { expectCaught, expectSound } from '../../support/suites/expect-caught.js';
import { toolMutants } from '../mutants/tools.js';

expectCaught('the checks of tools', toolMutants);
expectSound('the checks of tools', ['tools/*']);
