// Parses JSON request bodies after authentication (contract 4.0, row GEN-07 of docs/platform-coverage.md).
import express, { type RequestHandler } from 'express';
import { visitOf } from './call.ts';
import { SandboxProblem } from './problem.ts';
import type { SandboxRuntime } from './runtime.ts';

const MEDIA_TYPES = ['application/json', 'application/scim+json', 'application/merge-patch+json'];

/** Deepest nesting of a body that is accepted: deeper than any valid one, and shallow enough for recursive code. */
const MAX_DEPTH = 200;

/**
 * Returns true for a body with more than MAX_DEPTH nested levels. The check goes level by level, because recursion would
 * overflow the stack on such a body.
 */
function isTooDeep(body: unknown): boolean {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      for (const member of Object.values(value) as unknown[]) {
        if (typeof member === 'object' && member !== null) next.push(member);
      }
    }
    level = next;
  }
  return false;
}

/**
 * Parses JSON bodies up to 64 MB, because a group with many thousand members is one body. A body of another media type is
 * refused with 400; for GET, and with `ignoresOthers`, it is ignored.
 */
export function readBody(runtime: SandboxRuntime, ignoresOthers = false): RequestHandler[] {
  // Not strict: JSON other than objects and arrays is parsed, and refused later by requireObject.
  const parse = express.json({ type: MEDIA_TYPES, limit: '64mb', strict: false }) as RequestHandler;
  const check: RequestHandler = (request, response, next) => {
    // A chunked body counts as 0 bytes in the request log.
    const bytes = Number(request.headers['content-length'] ?? 0);
    const hasBody = bytes > 0 || request.headers['transfer-encoding'] !== undefined;
    // `request.is` returns false for another media type, and null without a body.
    if (!ignoresOthers && hasBody && request.method !== 'GET' && request.is(MEDIA_TYPES) === false) {
      throw new SandboxProblem(400, 'The request body must be JSON', 'invalidSyntax');
    }
    if (hasBody && isTooDeep(request.body))
      throw new SandboxProblem(400, 'The request body is nested too deeply', 'invalidSyntax');
    if (hasBody && request.body !== undefined)
      runtime.requests.attach(visitOf(response).entry, request.body, bytes);
    next();
  };
  return [parse, check];
}
