import type { Check } from '../../../../model.js';
import { taskExtensionChecks } from './extension.js';
import { taskExtensionInput } from './extension-input.js';
import { taskExtensionRefusals } from './extension-refusals.js';
import { legacyTaskChecks } from './legacy.js';
import { legacyTaskRules } from './legacy-more.js';

/** Tasks of 2025-11-25, and of the modern extension. */
export const taskChecks: readonly Check[] = [
  ...legacyTaskChecks,
  ...legacyTaskRules,
  ...taskExtensionRefusals,
  ...taskExtensionChecks,
  ...taskExtensionInput,
];
