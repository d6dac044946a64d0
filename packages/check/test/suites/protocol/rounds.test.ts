import { roundsMutants } from '../mutants/rounds.js';
import { roundsStateMutants } from '../mutants/rounds-state.js';
import { expectCaught, expectSound } from '../support/expect-caught.js';

expectCaught('the checks of rounds', roundsMutants);
expectCaught('the checks of what comes back', roundsStateMutants);
expectSound('the checks of rounds', ['rounds/*']);
