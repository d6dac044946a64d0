import type { Scenario } from '../../model.js';
import { AUTHORIZATION_SCENARIOS } from './authorization.js';
import { METADATA_SCENARIOS } from './metadata.js';
import { TOKEN_SCENARIOS } from './tokens.js';

/** Servers that want a token. */
export const LOGINS: readonly Scenario[] = [
  ...METADATA_SCENARIOS,
  ...AUTHORIZATION_SCENARIOS,
  ...TOKEN_SCENARIOS,
];

export const LOGIN_NAMES: readonly string[] = LOGINS.map(({ name }) => name);
