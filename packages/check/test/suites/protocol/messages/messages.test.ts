import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { idMutants, messageMutants } from '../../mutants/messages.js';

expectCaught('the checks of messages', messageMutants);
expectCaught('the checks of ids', idMutants);
expectSound('the checks of messages and ids', ['messages/*', 'ids/*']);
