// Builds routers from lists of routes.
import { Router } from 'express';
import { answer, type Handler } from './call.ts';
import type { MountedRouter } from './family.ts';
import type { SandboxRuntime } from './runtime.ts';

/** One operation; `path` is relative to the mount, with parameters as in `/users/:id`. */
export type Route = readonly [
  method: 'get' | 'post' | 'put' | 'patch' | 'delete',
  path: string,
  handler: Handler,
];

/** Returns the routes below `mount`; of several that match a path, the first one answers. */
export function createRoutes(
  runtime: SandboxRuntime,
  mount: string,
  routes: readonly Route[],
): MountedRouter {
  const router = Router({ caseSensitive: true });
  for (const [method, path, handler] of routes) router[method](path, answer(runtime, handler));
  return { mount, router };
}
