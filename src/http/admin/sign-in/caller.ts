// Determines who calls the admin API: by the admin token, by the session of a signed-in browser, or by headers of a proxy.
import type { IncomingMessage } from 'node:http';
import type { SessionStore } from '../../../directory/sessions.ts';
import { isWithin, plainAddress, toNetworks } from '../../middleware/client-address.ts';
import type { AdminCheck } from '../authenticate.ts';
import { Problem } from '../problem.ts';
import type { Cookie } from './cookies.ts';
import {
  ALL_RIGHTS,
  MAX_NAME_LENGTH,
  MAX_NAMES,
  rightsOf,
  rolesOf,
  type AdminCaller,
  type OperatorRole,
  type RoleNames,
} from './rights.ts';

/**
 * Returns the caller of a request.
 * @throws Problem 401 without a sign-in or with a wrong token, 403 for a person without a role and for a request that another
 * page sent, 429 after many wrong tokens
 */
export type IdentifyCaller = (request: IncomingMessage) => Promise<AdminCaller>;

interface CallerSources {
  /** Undefined when there is no admin token. */
  checkAdmin: AdminCheck | undefined;
  /** Undefined when the settings name no OpenID provider. */
  sessions: { store: SessionStore; cookie: Cookie } | undefined;
  /** Null when operators do not sign in: they send the admin token. */
  signIn: {
    /** Networks of the proxy, and the headers with a person's name and with the names of the person's roles. */
    proxy: { from: readonly string[]; nameHeader: string; rolesHeader: string } | null;
    roles: RoleNames;
  } | null;
}

/**
 * Returns a function that determines the caller. A request with the header Authorization comes from the person that a proxy names,
 * else from a holder of the admin token. A request without it comes from the person of a session, else from the person that a proxy
 * names.
 */
export function createIdentifyCaller({ checkAdmin, sessions, signIn }: CallerSources): IdentifyCaller {
  const proxy = signIn?.proxy;
  const proxies = toNetworks(proxy?.from ?? []);

  async function bySession(request: IncomingMessage): Promise<AdminCaller | undefined> {
    if (!sessions) return undefined;
    const id = sessions.cookie.read(request);
    const session = id === undefined ? undefined : await sessions.store.find(id);
    if (id === undefined || !session) return undefined;
    return {
      name: session.name,
      person: session.person,
      mark: '',
      via: 'openid',
      rights: rightsOf(session.roles as OperatorRole[]),
      // A session keeps the roles of its sign-in; a role that is taken away later stays until the session ends.
      isStillValid: () => sessions.store.isOpen(id),
      signOut: () => sessions.store.end(id),
    };
  }

  function byProxy(request: IncomingMessage): AdminCaller | undefined {
    if (!proxy || !signIn || !proxies) return undefined;
    // A client that is not the proxy could send the same headers, so its headers are not read.
    if (!isWithin(proxies, plainAddress(request.socket.remoteAddress ?? ''))) return undefined;
    const name = headerOf(request, proxy.nameHeader)?.trim();
    if (!name) return undefined;
    if (name.length > MAX_NAME_LENGTH)
      throw new Problem(401, `The proxy gave a name of more than ${MAX_NAME_LENGTH} characters.`);
    const names = (headerOf(request, proxy.rolesHeader) ?? '').split(',', MAX_NAMES);
    const roles = rolesOf(
      names.map((each) => each.trim()),
      signIn.roles,
    );
    if (roles.length === 0)
      throw new Problem(
        403,
        `You are signed in, but the header ${proxy.rolesHeader} gives you none of the roles viewer, operator and approver. Ask whoever administers your groups.`,
      );
    return {
      name,
      person: `proxy ${name}`,
      mark: '',
      rights: rightsOf(roles),
      via: 'proxy',
      // A proxy cannot be asked again after the request. A stream of the live status ends by itself (live.ts).
      isStillValid: () => Promise.resolve(true),
    };
  }

  /**
   * Returns the signed-in person; undefined for other callers. A request with the header Authorization has no session, but
   * may come from a proxy, which may forward a bearer token of its own.
   */
  const byPerson = async (request: IncomingMessage): Promise<AdminCaller | undefined> =>
    request.headers.authorization === undefined
      ? ((await bySession(request)) ?? byProxy(request))
      : byProxy(request);

  return async (request) => {
    const person = await byPerson(request);
    if (person) {
      refuseOtherPages(request);
      return person;
    }
    if (request.headers.authorization !== undefined && checkAdmin) {
      checkAdmin(request);
      return {
        name: null,
        person: null,
        mark: signIn ? ' (admin token)' : '',
        rights: ALL_RIGHTS,
        via: 'token',
        isStillValid: () => Promise.resolve(isRightToken(checkAdmin, request)),
      };
    }
    // Where operators do not sign in, only the admin token is accepted. The error of its check tells how to send it.
    if (!signIn && checkAdmin) checkAdmin(request);
    throw new Problem(401, 'Nobody is signed in: sign in at /admin/.', {
      headers: { 'WWW-Authenticate': 'Bearer realm="admin"' },
    });
  };
}

/**
 * Refuses requests that pages other than the operators' page send with the cookie of the browser or the headers of the proxy. The
 * browser tells in `sec-fetch-site` whether the page has another origin. Such a page also cannot set `x-scim-bridge-via` without a
 * CORS preflight, which the API never allows.
 * @throws Problem 403
 */
function refuseOtherPages({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin';
  if (isOwn && headers['x-scim-bridge-via'] === 'page') return;
  throw new Problem(
    403,
    'A signed-in browser reaches the admin API through the page /admin/ only. Programs send the admin token.',
  );
}

function isRightToken(check: AdminCheck, request: IncomingMessage): boolean {
  try {
    check(request);
    return true;
  } catch {
    return false;
  }
}

/** Returns the value of a header, or undefined for a repeated one: a client may send the header that the proxy adds. */
function headerOf(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name.toLowerCase()] ?? [];
  return values.length === 1 ? values[0] : undefined;
}
