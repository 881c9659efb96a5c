// Proves that a list was read completely. A truncated list looks like deleted users, so a resource counts as absent only
// after a complete scan and a read of that resource alone.
import type { ListPage } from '../../platform/readers.ts';

/** Whether a list of the platform was read completely. */
export interface ListProof {
  complete: boolean;
  /** Reason for an incomplete list, for operators. */
  reason?: string;
  /** totalResults of the first page; 0: no page arrived. */
  total: number;
  /** Number of distinct ids received. */
  seen: number;
}

export type ProofKeeper<T extends { id: string }> = ReturnType<typeof createListProof<T>>;

/**
 * Collects the proof of one list while its pages arrive. After a fault, such as a repeated id or a changed total, only a new scan
 * can be complete.
 */
export function createListProof<T extends { id: string }>() {
  const ids = new Set<string>();
  let total: number | undefined;
  let arrived = 0;
  let fault: string | undefined;
  const fail = (reason: string): void => {
    fault ??= reason;
  };

  return {
    fail,
    /** Returns whether a page contained the id. */
    has: (id: string): boolean => ids.has(id),
    /** Adds a page; pages may arrive in any order. @returns its resources without those of earlier pages */
    accept: ({ totalResults, resources }: ListPage<T>): T[] => {
      total ??= totalResults;
      if (totalResults !== total) fail(`the platform counted ${total} at first and ${totalResults} later`);
      arrived += resources.length;
      const again = new Set<T>();
      for (const resource of resources) {
        if (ids.has(resource.id)) again.add(resource);
        else ids.add(resource.id);
      }
      // Without repeated ids the list of the page is returned itself, which saves memory.
      if (again.size === 0) return resources;
      fail('an id came twice');
      return resources.filter((resource) => !again.has(resource));
    },
    /** Returns the current proof; complete only after every page. */
    verdict: (): ListProof => {
      const reason = fault ?? shortfall(total, arrived);
      const complete = reason === undefined;
      return { complete, ...(complete ? {} : { reason }), total: total ?? 0, seen: ids.size };
    },
  };
}

/** Returns why the number of received resources does not match the total; undefined if it does. */
function shortfall(total: number | undefined, arrived: number): string | undefined {
  if (total === undefined) return 'no page arrived';
  if (arrived < total) return `${arrived} of ${total} arrived`;
  return arrived > total ? `${arrived} arrived although ${total} were counted` : undefined;
}
