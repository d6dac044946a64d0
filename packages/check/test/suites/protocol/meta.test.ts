import { metaMutants, versionMutants } from '../mutants/meta.js';
import { expectCaught, expectSound } from '../support/expect-caught.js';

expectCaught('the checks of _meta', metaMutants);
expectCaught('the checks of versions', versionMutants);
expectSound('the checks of _meta and versions', ['meta/*', 'versions/*']);
