import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { roundsMutants } from '../../mutants/rounds.js';
import { roundsStateMutants } from '../../mutants/rounds-state.js';

expectCaught('the checks of rounds', roundsMutants);
expectCaught('the checks of what comes back', roundsStateMutants);
expectSound('the checks of rounds', ['rounds/*']);
