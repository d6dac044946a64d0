import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { initializeMutants, shapeMutants, stateMutants } from '../../mutants/initialize.js';

expectCaught('the checks of the handshake', initializeMutants);
expectCaught('the checks of shapes', shapeMutants);
expectCaught('the checks of state', stateMutants);
expectSound('the checks of the handshake, shapes and state', ['initialize/*', 'shapes/*', 'state/*']);
