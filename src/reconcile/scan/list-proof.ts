// Proves that a list was read completely. A truncated list looks like deleted users, so a resource counts as absent only
// after a complete scan and a read of that resource alone.

/** One page as it arrived; `startIndex` is the one that was asked for, 1-based. */
export interface ListedPage<T> {
  startIndex: number;
  totalResults: number;
  resources: T[];
}

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

/** Collects the proof of one list while its pages arrive. */
export interface ProofKeeper<T extends { id: string }> {
  /** Adds a page; pages may arrive in any order. @returns its resources without those of earlier pages */
  accept(page: ListedPage<T>): T[];
  fail(reason: string): void;
  /** Returns whether a page contained the id. */
  has(id: string): boolean;
  /** Returns the current proof; complete only after every page. */
  verdict(): ListProof;
}

/** Collects the proof of one scan. After a fault, such as a repeated id or a changed total, only a new scan can be complete. */
export function createListProof<T extends { id: string }>(): ProofKeeper<T> {
  const ids = new Set<string>();
  let total: number | undefined;
  let arrived = 0;
  let fault: string | undefined;
  const fail = (reason: string): void => {
    fault ??= reason;
  };

  return {
    fail,
    has: (id) => ids.has(id),
    accept: ({ totalResults, resources }) => {
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
    verdict: () => {
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
