import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { capabilityMutants, discoverMutants } from '../../mutants/discover.js';

expectCaught('the checks of server/discover', discoverMutants);
expectCaught('the checks of capabilities', capabilityMutants);
expectSound('the checks of server/discover and capabilities', ['discover/*', 'capabilities/*']);
