/** Logins with OAuth: for `http(url, { auth: oauth() })`. */
export { type OAuth, oauth } from './oauth.js';
export type { CallbackSettings, DeviceCode, OAuthOptions, OAuthQuestions } from './options.js';
export type { LoginStatus, ServerLogin } from './server-login.js';
export { fileLoginStore } from './store/file-store.js';
export {
  type LoginClient,
  type LoginRecord,
  type LoginStore,
  type LoginToken,
  memoryLoginStore,
  type TokenAuthMethod,
} from './store/login-record.js';
export type { PrivateKeyOptions } from './token-endpoint.js';
