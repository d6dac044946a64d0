import type { Check } from '../../model.js';
import { authorizationChecks } from './authorization.js';
import { bodyChecks } from './bodies.js';
import { connectionChecks } from './connections.js';
import { headerValueChecks } from './header-values.js';
import { legacyHttpChecks } from './legacy-http.js';
import { modernOnlyChecks } from './modern-only.js';
import { oldSseChecks } from './old-sse.js';
import { originChecks } from './origin.js';
import { paramHeaderChecks } from './param-headers.js';
import { plainHttpChecks } from './plain-http.js';
import { requiredHeaderChecks } from './required-headers.js';
import { resumptionChecks } from './resumption.js';
import { sessionChecks } from './sessions.js';
import { sideBySideChecks } from './side-by-side.js';
import { statusChecks } from './statuses.js';
import { streamChecks } from './streams.js';

export const httpChecks: readonly Check[] = [
  ...requiredHeaderChecks,
  ...headerValueChecks,
  ...paramHeaderChecks,
  ...statusChecks,
  ...modernOnlyChecks,
  ...streamChecks,
  ...originChecks,
  ...bodyChecks,
  ...plainHttpChecks,
  ...connectionChecks,
  ...authorizationChecks,
  ...legacyHttpChecks,
  ...oldSseChecks,
  ...resumptionChecks,
  ...sessionChecks,
  ...sideBySideChecks,
];
