import { toolMutants } from './mutants/tools.js';
import { expectCaught, expectSound } from './support/expect-caught.js';

expectCaught('the checks of tools', toolMutants);
expectSound('the checks of tools', ['tools/*']);
