// Was a list read whole? Pure. A list that was cut short looks just like people who are gone, so an absence is believed
// only after a walk that this proves complete, and then only after a second look at the one who is missing.

/** One page as it arrived; `startIndex` is the one that was asked for, 1-based. */
export interface ListedPage<T> {
  startIndex: number;
  totalResults: number;
  resources: T[];
}

export interface ListProof {
  complete: boolean;
  /** Why not, in words for an operator. */
  reason?: string;
  /** Resources that the platform counted on the first page. */
  total: number;
  /** Different ids that arrived. */
  seen: number;
}

export interface ProofKeeper<T extends { id: string }> {
  /** Takes a page in any order. @returns its resources without those that came before */
  accept(page: ListedPage<T>): T[];
  /** Something kept the walk from reading what it asked for. */
  fail(reason: string): void;
  has(id: string): boolean;
  /** The proof so far; complete only when every page has arrived. */
  verdict(): ListProof;
}

/** Collects what the pages of one walk prove. Nothing heals a fault: only a new walk does. */
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
      // The page itself as long as all is well: it is most of what a walk without drift has in memory.
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

function shortfall(total: number | undefined, arrived: number): string | undefined {
  if (total === undefined) return 'no page arrived';
  if (arrived < total) return `${arrived} of ${total} arrived`;
  return arrived > total ? `${arrived} arrived although ${total} were counted` : undefined;
}
