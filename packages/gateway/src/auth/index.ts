export {
  type Authenticating,
  type AuthOptions,
  createAuthenticate,
} from './create-authenticate.js';
export type { JwtOptions } from './jwt.js';
export type { ApiKey } from './key-ring.js';
