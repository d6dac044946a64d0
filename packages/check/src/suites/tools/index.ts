import type { Check } from '../../model.js';
import { toolArgumentChecks } from './arguments.js';
import { toolDescriptionChecks } from './descriptions.js';
import { toolListChecks } from './lists.js';
import { toolResultChecks } from './results.js';
import { toolSchemaChecks } from './schemas.js';

export const toolsChecks: readonly Check[] = [
  ...toolListChecks,
  ...toolSchemaChecks,
  ...toolDescriptionChecks,
  ...toolResultChecks,
  ...toolArgumentChecks,
];
