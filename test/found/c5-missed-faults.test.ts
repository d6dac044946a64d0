import { missedMutants } from '../../packages/check/test/suites/mutants/missed.js';
import { expectCaught, expectSound } from '../../packages/check/test/support/suites/expect-caught.js';

expectCaught('C5: faults that the referee missed are caught', missedMutants);
expectSound('C5: the checks that catch them', [
  'ids/every-method',
  'ids/newlines',
  'http-streams/events-are-messages',
  'stream/no-byte-order-mark',
  'chunks/characters-*',
  'http-body/characters-in-pieces',
  'http-headers/body-matches-version',
  'discover/again',
  'end-of-input/answers-calls',
  'http-session/same-ids-at-once',
  'cancellation/no-progress-after',
]);
