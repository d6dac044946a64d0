import { expectCaught, expectSound } from '../../../support/suites/expect-caught.js';
import { subscriptionsMutants } from '../../mutants/subscriptions.js';
import { subscriptionsLegacyMutants } from '../../mutants/subscriptions-legacy.js';

expectCaught('the checks of subscriptions', subscriptionsMutants);
expectCaught('the checks of legacy subscriptions', subscriptionsLegacyMutants);
expectSound('the checks of subscriptions', ['subscriptions/*'], {
  allow: ['touch', 'test_trigger_prompt_change'],
});
