import type { Check } from '../../model.js';
import { questionsChecks } from './questions.js';
import { questionsCareChecks } from './questions-care.js';
import { questionsDeclaredChecks } from './questions-declared.js';
import { questionsLegacyChecks } from './questions-legacy.js';
import { roundsChecks } from './rounds.js';
import { roundsAnswersChecks } from './rounds-answers.js';
import { roundsDeclinedChecks } from './rounds-declined.js';
import { roundsStateChecks } from './rounds-state.js';

/** What takes more than one message: rounds, subscriptions, cancellation, progress, logs and questions. */
export const roundsPartChecks: readonly Check[] = [
  ...roundsChecks,
  ...roundsAnswersChecks,
  ...roundsDeclinedChecks,
  ...roundsStateChecks,
  ...questionsChecks,
  ...questionsCareChecks,
  ...questionsDeclaredChecks,
  ...questionsLegacyChecks,
];
