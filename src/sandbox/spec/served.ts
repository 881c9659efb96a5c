// Which operations the sandbox serves, read from the routers themselves, so that the document cannot lag behind.
import type { Family } from '../family.ts';

export interface ServedOperation {
  /** Lower case. */
  readonly method: string;
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: string;
}

/** The operations of all rooms, in the order of their registration. */
export function servedOperations(families: readonly Family[]): ServedOperation[] {
  return families
    .flatMap((family) => family.rooms)
    .flatMap(({ mount, router }) =>
      router.stack.flatMap(({ route }) => {
        if (!route) return [];
        const path = `${mount}${route.path}`.replace(/:(\w+)/g, '{$1}');
        const methods = new Set(route.stack.map((layer) => layer.method));
        return [...methods].map((method) => ({ method, path }));
      }),
    );
}
