// An API family: a set of paths that share authentication and the form of errors. New rooms join a family's list.
import type { Request, Router } from 'express';
import type { Caller } from './auth.ts';
import type { Reply } from './call.ts';
import type { Problem } from './problem.ts';

/** One resource area of a family; its router sees paths relative to `mount`. */
export interface Room {
  readonly mount: string;
  readonly router: Router;
}

export interface Family {
  /** Path prefixes that belong to this family alone. */
  readonly mounts: readonly string[];
  /** Checks of the path alone; they come before the body is read (contract 4.0, ASSUMED-52). */
  readonly walls?: readonly Room[];
  readonly rooms: readonly Room[];
  /**
   * Throws Problem 401 (or what the family answers instead). Undefined = the family keeps its callers itself.
   */
  readonly authenticate: (request: Request) => Caller | undefined | Promise<Caller | undefined>;
  readonly render: (problem: Problem) => Reply;
  readonly mediaType: (request: Request) => string;
}
