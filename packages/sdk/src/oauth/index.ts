/** Logins with OAuth: for `http(url, { auth: oauth() })`. */
export type { PrivateKeyOptions } from './client-authentication.js';
export type { LoginStatus } from './login-status.js';
export { type OAuth, oauth } from './oauth.js';
export type { CallbackSettings, DeviceCode, OAuthOptions, OAuthQuestions } from './options.js';
export { type OAuthProviderOptions, oauthProvider } from './provider/oauth-provider.js';
export type {
  IssuerContext,
  OfficialClientInformation,
  OfficialClientMetadata,
  OfficialOAuthProvider,
  OfficialTokens,
} from './provider/official-provider.js';
export type { ServerLogin } from './server-login.js';
export { fileLoginStore } from './store/file-store.js';
export {
  type LoginClient,
  type LoginRecord,
  type LoginStore,
  type LoginToken,
  memoryLoginStore,
  type TokenAuthMethod,
} from './store/login-record.js';
