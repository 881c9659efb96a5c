// Starts a bridge whose operators sign in with an OpenID Connect provider on loopback, or through a proxy there.
import { freePort } from '../../../src/demo/local-redis.ts';
import { CLIENT, startOpenIdProvider, type TestProvider } from '../../support/openid-provider.ts';
import { openAdmin, type AdminRig } from './rig.ts';

/** Names in the roles claim, by subject. */
export const PEOPLE = {
  vera: ['bridge-viewers'],
  otto: ['bridge-operators', 'everybody'],
  anna: ['bridge-approvers'],
  nora: ['everybody'],
};

export interface SignInRig {
  rig: AdminRig;
  provider: TestProvider;
  /** Address of the bridge. */
  base: string;
}

/** Starts provider and bridge. The port is chosen first, because both need the address of the bridge. */
export async function openSignIn(): Promise<SignInRig> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const provider = await startOpenIdProvider(`${base}/admin/sign-in/callback`, PEOPLE);
  const rig = await openAdmin({
    configure: ({ server }) => {
      Object.assign(server, { port, adminUrl: base });
      server.signIn = {
        openid: {
          issuer: provider.issuer,
          ...CLIENT,
          scopes: ['openid'],
          nameClaim: 'email',
          rolesClaim: 'roles',
          allowLoopbackHttp: true,
        },
        proxy: { from: ['127.0.0.0/8'], nameHeader: 'X-Forwarded-User', rolesHeader: 'X-Forwarded-Groups' },
        roles: { viewer: ['bridge-viewers'], operator: ['bridge-operators'], approver: ['bridge-approvers'] },
        idleMinutes: 60,
        hours: 8,
      };
    },
  });
  return { rig, provider, base };
}
