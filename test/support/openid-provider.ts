// Runs an OpenID Connect provider on loopback that signs in the person chosen by the test without a form.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface TestProvider {
  issuer: string;
  /** Subject of the person who signs in next, by default with the roles of that name in `people`. */
  person: string;
  stop(): Promise<void>;
}

export const CLIENT = { clientId: 'scim-bridge', clientSecret: 'a-client-secret-of-tests-0123456789' };

/** @param people roles by subject */
export async function startOpenIdProvider(
  redirect: string,
  people: Readonly<Record<string, readonly string[]>>,
): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The library prints warnings about settings that are not for production.
  const { info, warn } = console;
  Object.assign(console, { info: () => undefined, warn: () => undefined });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirect],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub', 'email', 'roles'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: ['a-key-of-tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@acme.example`, roles: [...(people[sub] ?? [])] }),
    }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  const self: TestProvider = {
    issuer,
    person: '',
    stop: () =>
      new Promise((resolve) => {
        Object.assign(console, { info, warn });
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response);
    const login = { accountId: self.person };
    void provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
  });
  return self;
}
