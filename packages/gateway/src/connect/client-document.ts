/** Describes the gateway as a client of one server (CIMD, AUTH-C-031). `id` is the address of the document itself. */
export function clientDocument(id: string, redirectUri: string): string {
  return JSON.stringify({
    client_id: id,
    client_name: 'Isthmus gateway',
    application_type: 'web',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
}

export const CLIENT_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=600',
  'x-content-type-options': 'nosniff',
};
