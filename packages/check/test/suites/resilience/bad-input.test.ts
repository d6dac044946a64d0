import { expectCaught, expectSound } from '../../support/suites/expect-caught.js';
import { badBytesMutants } from '../mutants/bad-bytes.js';
import { badShapesMutants } from '../mutants/bad-shapes.js';

expectCaught('the checks of bytes', badBytesMutants);
expectCaught('the checks of shapes', badShapesMutants);
expectSound('the checks of bad input', [
  'bytes/*',
  'chunks/*',
  'size/*',
  'envelope/*',
  'batch/*',
  'members/*',
  'noise/*',
]);
