import { capabilityMutants, discoverMutants } from '../mutants/discover.js';
import { expectCaught, expectSound } from '../support/expect-caught.js';

expectCaught('the checks of server/discover', discoverMutants);
expectCaught('the checks of capabilities', capabilityMutants);
expectSound('the checks of server/discover and capabilities', ['discover/*', 'capabilities/*']);
