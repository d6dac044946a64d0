// What an application brings for logins with an official client: a provider, and what to do when a page was opened.

/** The provider that both official clients take. Without MCP_LOGIN there is none. */
export function stageProvider() {
  if (process.env.MCP_LOGIN === undefined) return undefined;
  const { clientId, clientSecret, issuer } = JSON.parse(process.env.MCP_LOGIN);
  process.stderr.write('mcp-login: read\n');
  let client = clientId && { client_id: clientId, client_secret: clientSecret, issuer };
  let tokens;
  let verifier;
  let state;
  let discovered;
  return {
    /** The parameters that the browser came back with. */
    callback: undefined,
    redirectUrl: 'http://127.0.0.1:18765/callback',
    clientMetadataUrl: 'https://client.example/oauth/client.json',
    clientMetadata: {
      client_name: 'official',
      redirect_uris: ['http://127.0.0.1:18765/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    state() {
      state = crypto.randomUUID();
      return state;
    },
    clientInformation: () => client,
    saveClientInformation(given) {
      client = given;
    },
    tokens: () => tokens,
    saveTokens(given) {
      tokens = given;
    },
    saveCodeVerifier(given) {
      verifier = given;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(given) {
      discovered = given;
    },
    // Only until the code is redeemed: afterwards the server may name another authorization server.
    discoveryState() {
      return this.callback && discovered;
    },
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') client = undefined;
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
    },
    async redirectToAuthorization(url) {
      const response = await fetch(url, { redirect: 'manual' });
      const params = new URL(response.headers.get('location')).searchParams;
      if (params.get('state') !== state) throw new Error('The response has another state');
      this.callback = params;
    },
  };
}

/** Does something, and does it again after a login. `finish` redeems the code. */
export async function withLogin(provider, action, finish) {
  for (let logins = 0; ; logins += 1) {
    try {
      return await action();
    } catch (error) {
      if (!provider?.callback || logins >= 3) throw error;
      await finish(provider.callback);
      provider.callback = undefined;
    }
  }
}
