import type { Check } from '../../model.js';
import { cancellationChecks } from './cancellation.js';
import { cancellationServerChecks } from './cancellation-server.js';
import { loggingChecks } from './logging.js';
import { loggingLevelsChecks } from './logging-levels.js';
import { progressChecks } from './progress.js';
import { questionsChecks } from './questions.js';
import { questionsCareChecks } from './questions-care.js';
import { questionsDeclaredChecks } from './questions-declared.js';
import { questionsLegacyChecks } from './questions-legacy.js';
import { roundsChecks } from './rounds.js';
import { roundsAnswersChecks } from './rounds-answers.js';
import { roundsDeclinedChecks } from './rounds-declined.js';
import { roundsStateChecks } from './rounds-state.js';
import { subscriptionsChecks } from './subscriptions.js';
import { subscriptionsLegacyChecks } from './subscriptions-legacy.js';
import { subscriptionsNewsChecks } from './subscriptions-news.js';

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
  ...subscriptionsChecks,
  ...subscriptionsNewsChecks,
  ...subscriptionsLegacyChecks,
  ...cancellationChecks,
  ...cancellationServerChecks,
  ...progressChecks,
  ...loggingChecks,
  ...loggingLevelsChecks,
];
