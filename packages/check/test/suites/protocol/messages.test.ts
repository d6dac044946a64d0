import { idMutants, messageMutants } from '../mutants/messages.js';
import { expectCaught, expectSound } from '../support/expect-caught.js';

expectCaught('the checks of messages', messageMutants);
expectCaught('the checks of ids', idMutants);
expectSound('the checks of messages and ids', ['messages/*', 'ids/*']);
