import type { Check } from '../../model.js';
import { authorizationChecks } from './authorization.js';
import { bodyChecks } from './bodies.js';
import { connectionChecks } from './connections.js';
import { paramHeaderChecks } from './headers/params.js';
import { requiredHeaderChecks } from './headers/required.js';
import { headerValueChecks } from './headers/values.js';
import { resumptionChecks } from './legacy/resumption.js';
import { sessionChecks } from './legacy/sessions.js';
import { legacyHttpChecks } from './legacy/streams.js';
import { modernOnlyChecks } from './modern-only.js';
import { originChecks } from './origin.js';
import { plainHttpChecks } from './plain-http.js';
import { sideBySideChecks } from './side-by-side.js';
import { statusChecks } from './statuses.js';
import { streamChecks } from './streams.js';
import { tokenScopeChecks } from './tokens/scopes.js';
import { tokenValidationChecks } from './tokens/validation.js';

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
  ...tokenValidationChecks,
  ...tokenScopeChecks,
  ...legacyHttpChecks,
  ...resumptionChecks,
  ...sessionChecks,
  ...sideBySideChecks,
];
