import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { metaMutants, versionMutants } from '../../mutants/meta.js';

expectCaught('the checks of _meta', metaMutants);
expectCaught('the checks of versions', versionMutants);
expectSound('the checks of _meta and versions', ['meta/*', 'versions/*']);
