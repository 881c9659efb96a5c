// Builds the sign-in of operators: the check of who calls the admin API, and the routes by which people sign in.
import { createSessionStore } from '../directory/sessions.ts';
import type { AdminCheck } from '../http/admin/authenticate.ts';
import { createIdentifyCaller, type IdentifyCaller } from '../http/admin/sign-in/caller.ts';
import { createCookie } from '../http/admin/sign-in/cookies.ts';
import { createProvider } from '../http/admin/sign-in/provider.ts';
import { createSignInRouter, type SignInParts } from '../http/admin/sign-in/router.ts';
import type { Parts } from './parts.ts';

/** Returns the caller check and the router of /admin/sign-in. @param checkAdmin undefined: there is no admin token */
export function buildSignIn(
  parts: Parts,
  checkAdmin: AdminCheck | undefined,
): { identify: IdentifyCaller; router: ReturnType<typeof createSignInRouter> } {
  const { adminUrl, signIn } = parts.config.server;
  // `adminUrl` is empty only without a provider (sign-in-checks.ts), and then the address is not used.
  const redirect = `${adminUrl ?? ''}/admin/sign-in/callback`;
  const byProvider = buildProvider(parts, redirect);
  const router = createSignInRouter(parts, {
    parts: byProvider,
    redirect,
    ways: {
      openid: byProvider !== undefined,
      proxy: Boolean(signIn?.proxy),
      token: checkAdmin !== undefined,
    },
  });
  const sessions = byProvider && { store: byProvider.store, cookie: byProvider.session };
  return { identify: createIdentifyCaller({ checkAdmin, sessions, signIn }), router };
}

/** Returns the parts of the sign-in by an OpenID provider; undefined when the settings name none. */
function buildProvider(parts: Parts, redirect: string): SignInParts | undefined {
  const { config, clock, redis } = parts;
  const { signIn } = config.server;
  if (!signIn?.openid) return undefined;
  const { prefix } = config.redis;
  const secure = redirect.startsWith('https:');
  return {
    // Names in the roles claim of the provider, by role at the bridge.
    roles: signIn.roles,
    longestMs: signIn.hours * 3_600_000,
    provider: createProvider({ clock }, signIn.openid, redirect),
    store: createSessionStore({ redis, clock }, { prefix, idleMs: signIn.idleMinutes * 60_000 }),
    session: createCookie('scim-bridge-session', { secure, sameSite: 'Strict' }),
    // Cookie of a sign-in that has begun. `Lax`, because a `Strict` cookie is not sent after a redirect from the provider's site.
    pending: createCookie('scim-bridge-sign-in', { secure, sameSite: 'Lax' }),
  };
}
