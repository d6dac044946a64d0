import { initializeMutants, shapeMutants, stateMutants } from '../mutants/initialize.js';
import { expectCaught, expectSound } from '../support/expect-caught.js';

expectCaught('the checks of the handshake', initializeMutants);
expectCaught('the checks of shapes', shapeMutants);
expectCaught('the checks of state', stateMutants);
expectSound('the checks of the handshake, shapes and state', ['initialize/*', 'shapes/*', 'state/*']);
