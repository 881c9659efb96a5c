// Routes /admin/sign-in: lists the ways to sign in, sends the browser to the provider, and begins a session when the browser
// comes back. Nothing is stored in Redis before the provider has confirmed the person, so strangers cannot fill Redis.
import express, { type Request, type Response, type Router } from 'express';
import type { SessionStore } from '../../../directory/sessions.ts';
import type { Logger } from '../../../support/logger.ts';
import type { Clock, Ids } from '../../../support/sources.ts';
import type { Cookie } from './cookies.ts';
import { sendJson } from '../../json-headers.ts';
import { createProblemHandler } from '../problem.ts';
import { SignInRefused, type PendingSignIn, type Provider } from './provider.ts';
import { rolesOf, type RoleNames } from './rights.ts';

export interface SignInParts {
  provider: Provider;
  store: SessionStore;
  roles: RoleNames;
  /** Longest duration of a session, milliseconds. */
  longestMs: number;
  /** Cookie with the id of the session. */
  session: Cookie;
  /** Cookie with the values of a sign-in that has begun. */
  pending: Cookie;
}

/** Time to sign in at the provider. */
const PENDING_SECONDS = 600;
/** Largest number of concurrent exchanges with the provider in one process. */
const MOST_AT_ONCE = 8;

/** Returns the router of /admin/sign-in. @param parts undefined when the settings name no provider */
export function createSignInRouter(
  deps: { clock: Clock; ids: Ids; logger: Logger },
  {
    parts,
    ways,
    redirect,
  }: {
    parts: SignInParts | undefined;
    /** Address to which the provider sends the browser back. */
    redirect: string;
    /** Ways to sign in that the page offers. */
    ways: { openid: boolean; proxy: boolean; token: boolean };
  },
): Router {
  const router = express.Router();
  let running = 0;
  router.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Referrer-Policy', 'no-referrer');
    next();
  });
  router.get('/ways', (_request, response) => {
    sendJson(response, 200, ways);
  });
  if (!parts) return router.use(createProblemHandler(deps));
  const { provider, store, session, pending, roles: roleNames, longestMs } = parts;

  /** Sends the browser to the page with a code for the reason, which the page explains. */
  function refuse(response: Response, reason: string, error?: unknown): void {
    const { cause } = (error ?? {}) as { cause?: Error & { code?: string } };
    deps.logger.warn({ reason, code: cause?.code ?? cause?.name }, 'a sign-in was refused');
    toPage(response, reason);
  }

  /** Returns a handler that does an exchange with the provider; a refusal becomes a reason that the page explains. */
  const exchange = (work: (request: Request, response: Response) => Promise<void>) => {
    return async (request: Request, response: Response): Promise<void> => {
      if (running >= MOST_AT_ONCE) return refuse(response, 'busy');
      running += 1;
      try {
        await work(request, response);
      } catch (error) {
        if (!(error instanceof SignInRefused)) throw error;
        refuse(response, error.reason, error);
      } finally {
        running -= 1;
      }
    };
  };

  router.get(
    '/',
    exchange(async (_request, response) => {
      const { address, pending: begun } = await provider.begin();
      const value = [begun.state, begun.nonce, begun.verifier].join('.');
      response.setHeader('Set-Cookie', pending.store(value, PENDING_SECONDS));
      response.writeHead(303, { Location: address.href }).end();
    }),
  );

  router.get(
    '/callback',
    exchange(async (request, response) => {
      const begun = parsePending(pending.read(request));
      response.setHeader('Set-Cookie', pending.remove());
      if (!begun) return refuse(response, 'expired');
      const answer = new URL(redirect);
      const queryStart = request.originalUrl.indexOf('?');
      answer.search = queryStart < 0 ? '' : request.originalUrl.slice(queryStart);
      const { name, person, names } = await provider.finish(answer, begun);
      const roles = rolesOf(names, roleNames);
      if (roles.length === 0) return refuse(response, 'no-role');
      const endsAt = deps.clock.now() + longestMs;
      const id = await store.begin({ name, person, roles, endsAt });
      response.setHeader('Set-Cookie', [pending.remove(), session.store(id)]);
      toPage(response);
    }),
  );
  return router.use(createProblemHandler(deps));
}

/** Sends the browser to the page. @param refused reason of a refusal, which the page explains */
function toPage(response: Response, refused?: string): void {
  const place = refused === undefined ? '' : `#/refused/${refused}`;
  response.writeHead(303, { Location: `/admin/${place}` }).end();
}

/** Returns the values of the cookie `<state>.<nonce>.<verifier>`; undefined for a missing or malformed cookie. */
function parsePending(value: string | undefined): PendingSignIn | undefined {
  const [state, nonce, verifier] = value?.split('.') ?? [];
  return state && nonce && verifier ? { state, nonce, verifier } : undefined;
}
