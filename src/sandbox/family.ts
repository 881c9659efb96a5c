// Defines an API family: a set of paths with the same authentication and error form.
import type { Request, RequestHandler, Router } from 'express';
import type { Caller } from './auth.ts';
import type { HandlerReply } from './call.ts';
import type { SandboxProblem } from './problem.ts';

/** Routes of one resource area; the router sees paths relative to `mount`. */
export interface MountedRouter {
  readonly mount: string;
  readonly router: Router;
}

export interface ApiFamily {
  /** Path prefixes of this family; no other family uses them. */
  readonly mounts: readonly string[];
  /**
   * Checks that need only the path and the caller. They run after authentication and before the body is parsed (contract 4.0,
   * ASSUMED-52).
   */
  readonly pathChecks?: readonly MountedRouter[];
  readonly routers: readonly MountedRouter[];
  /** Runs before authentication and injected faults. */
  readonly before?: RequestHandler;
  /** Whether bodies that are not JSON are ignored; by default they are refused. */
  readonly ignoresOtherBodies?: boolean;
  /** Answers a path that the family does not have; by default with 404 in the family's error form. */
  readonly notFound?: RequestHandler;
  /**
   * Authenticates a request. Throws SandboxProblem 401 or the family's own refusal. Returns undefined when the family keeps the
   * caller of each request itself.
   */
  readonly authenticate: (request: Request) => Caller | undefined | Promise<Caller | undefined>;
  /** Returns the reply for a refusal in the family's error form. */
  readonly render: (problem: SandboxProblem) => HandlerReply;
  /** Returns the media type of the answer. */
  readonly mediaType: (request: Request) => string;
}
