import type { Check } from '../../model.js';
import { cacheChecks } from './features/cache.js';
import { completionChecks } from './features/completion.js';
import { iconChecks } from './features/icons.js';
import { pageChecks } from './features/lists.js';
import { promptChecks } from './features/prompts.js';
import { resourceChecks } from './features/resources.js';
import { taskChecks } from './features/tasks/index.js';
import { errorChecks } from './messages/errors.js';
import { idChecks } from './messages/ids.js';
import { messageChecks, pingChecks, stateChecks } from './messages/messages.js';
import { metaChecks } from './messages/meta.js';
import { resultChecks } from './messages/results.js';
import { shapeChecks } from './messages/shapes.js';
import { cancellationChecks } from './notifications/cancellation.js';
import { cancellationIgnoredChecks } from './notifications/cancellation-ignored.js';
import { loggingChecks } from './notifications/logging.js';
import { loggingLevelsChecks } from './notifications/logging-levels.js';
import { progressChecks } from './notifications/progress.js';
import { subscriptionsChecks } from './notifications/subscriptions.js';
import { subscriptionsLegacyChecks } from './notifications/subscriptions-legacy.js';
import { subscriptionsNewsChecks } from './notifications/subscriptions-news.js';
import { capabilityChecks, discoverChecks } from './opening/discover.js';
import { initializeChecks } from './opening/initialize.js';
import { versionChecks } from './opening/versions.js';
import { roundsAnswersChecks } from './questions/answers.js';
import { questionsChecks } from './questions/content.js';
import { questionsDeclaredChecks } from './questions/declared.js';
import { roundsDeclinedChecks } from './questions/declined.js';
import { questionsLegacyChecks } from './questions/legacy.js';
import { roundsChecks } from './questions/rounds.js';
import { roundsStateChecks } from './questions/state.js';

export const protocolChecks: readonly Check[] = [
  ...messageChecks,
  ...idChecks,
  ...metaChecks,
  ...versionChecks,
  ...discoverChecks,
  ...initializeChecks,
  ...pingChecks,
  ...capabilityChecks,
  ...stateChecks,
  ...resultChecks,
  ...shapeChecks,
  ...errorChecks,
  ...cacheChecks,
  ...pageChecks,
  ...resourceChecks,
  ...promptChecks,
  ...completionChecks,
  ...iconChecks,
  ...taskChecks,
  ...roundsChecks,
  ...roundsAnswersChecks,
  ...roundsDeclinedChecks,
  ...roundsStateChecks,
  ...questionsChecks,
  ...questionsDeclaredChecks,
  ...questionsLegacyChecks,
  ...subscriptionsChecks,
  ...subscriptionsNewsChecks,
  ...subscriptionsLegacyChecks,
  ...cancellationChecks,
  ...cancellationIgnoredChecks,
  ...progressChecks,
  ...loggingChecks,
  ...loggingLevelsChecks,
];
