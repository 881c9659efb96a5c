// Reads the coverage of a target: whether every stored resource is linked and synced, pending, or excluded for a known
// reason. Reconcile compares it with the platform's lists (ADR 0021).
import { PRIORITIES, refOf, type Kind, type Ref } from '../records.ts';
import { pairsOf, inPortions, scanned } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** State of a resource that is not linked and synced. */
export type CoverState =
  /** Marked, and due for a sync or delivered to the queue. */
  | 'pending'
  /** Marked, but neither in `dirty` nor in `inflight`. */
  | 'stuck'
  /** Neither link nor mark. */
  | 'missing'
  /**
   * Without a mark, and the resource (1) changed since the last sync, (2) is held and no decision is open any more, (3) is a group
   * with a pending membership that can be written, or (4) with `closes`, is a user out of scope whose account is unknown.
   */
  | 'stale'
  /** Linked, but its platform id has no reverse link to it. */
  | 'astray'
  /** A sync was refused for good. */
  | 'deadLetter'
  /** The guard holds a change. */
  | 'held'
  /** Marked, and waits for a held change of another resource. */
  | 'behindHeld'
  /** Marked, and waits for a removal from a group whose sync was refused for good. */
  | 'behindRefused'
  /** The condition of the link says why. */
  | 'exception'
  /** Deleted, out of scope, or left out by the settings, at its last sync. A user who is inactive and in scope counts as linked. */
  | 'closed'
  /** Deleted, without a mark, and its account or group may still be open. */
  | 'orphan';

/** States of lost resources: no sync is due, although one is needed. A run marks these resources. */
export const LOST: ReadonlySet<CoverState> = new Set(['stuck', 'missing', 'stale', 'astray', 'orphan']);

/** Number of resources of one kind by state. `desired` is the sum of all others except `seen`. */
export interface Coverage {
  /** All stored resources but the `closed` ones, so a user who left the scope counts until the next sync has ended. */
  desired: number;
  linked: number;
  /** Linked and shown by the lists of the last run; null when a list was not read completely. */
  seen: number | null;
  pending: number;
  /** Resources with a held change, or that wait for a held change of another resource. */
  held: number;
  /** Dead letters, and people who wait for the removal from a group whose sync was refused. */
  deadLetters: number;
  /** Excluded by another condition of their link, such as protected, rejected, or dropped from the dead letters. */
  exceptions: number;
  /** Resources in a state of `LOST`, except orphans. */
  missing: number;
}

/**
 * `closes`: whether the policy of the target closes accounts. Such a policy has to know the accounts of users out of scope and of
 * deleted resources. A sync under an earlier policy, which closed none, may have ended without looking for them.
 */
export interface ClosingPolicy {
  closes?: boolean;
}

/** Resources of one script call, with their states. */
export interface CoverPortion {
  linked: { ref: Ref; platformId: string }[];
  others: { ref: Ref; state: CoverState }[];
}

/** A portion in which linked resources are only counted, and their reverse links are not checked: none is `astray`. */
export interface BriefPortion {
  linked: number;
  others: CoverPortion['others'];
}

/** Number of the priority `reconcile`, as the scripts take it. */
const RECONCILE = PRIORITIES.indexOf('reconcile');
/** Resources per script call: few, as a script blocks Redis and records may be long. */
const PORTION = 200;
/** Resources per script call when most records are not read. */
const IDS_PORTION = 1000;

/**
 * The count that a state adds to; `missing` is a state and the count of four states. Undefined: a resource out of scope and an
 * orphan are not desired.
 */
const COUNTED_AS: Record<CoverState, keyof Coverage | undefined> = {
  pending: 'pending',
  stuck: 'missing',
  missing: 'missing',
  stale: 'missing',
  astray: 'missing',
  deadLetter: 'deadLetters',
  held: 'held',
  behindHeld: 'held',
  behindRefused: 'deadLetters',
  exception: 'exceptions',
  closed: undefined,
  orphan: undefined,
};

/** Subtracts a resource from the counts that contain it. @param state undefined: linked and synced */
export function discount(coverage: Coverage, state: CoverState | undefined): void {
  const name = state === undefined ? 'linked' : COUNTED_AS[state];
  if (name === undefined) return;
  coverage[name] = (coverage[name] ?? 0) - 1;
  coverage.desired--;
}

/** Returns counts of zero, to which `count` adds. */
export const noCoverage = (): Coverage => ({
  desired: 0,
  linked: 0,
  seen: null,
  pending: 0,
  held: 0,
  deadLetters: 0,
  exceptions: 0,
  missing: 0,
});

/** Adds one portion to the counts. */
export function count(coverage: Coverage, { linked, others }: CoverPortion | BriefPortion): void {
  const more = typeof linked === 'number' ? linked : linked.length;
  coverage.linked += more;
  coverage.desired += more;
  for (const { state } of others) {
    const name = COUNTED_AS[state];
    if (name === undefined) continue;
    coverage[name] = (coverage[name] ?? 0) + 1;
    coverage.desired++;
  }
}

/** Converts the list of ids and states of a reply of read_coverage.lua. */
const othersOf = (kind: Kind, flat: unknown): CoverPortion['others'] =>
  pairsOf(flat as string[]).map(([id, state]) => ({ ref: refOf(kind, id), state: state as CoverState }));

export type CoverageReader = ReturnType<typeof createCoverageReader>;

/** @param options.rulesReadGroups whether mapping rules read the groups of users, as in `DirectoryOptions` */
export function createCoverageReader(
  { redis, scripts, keys }: StoreDeps,
  options: { target: string; targets: readonly string[]; rulesReadGroups: boolean },
) {
  const { target, targets, rulesReadGroups } = options;

  /** Runs a script from cursor to cursor; yields the values of each reply, without its tag and cursor. */
  const portions = (script: string, args: object): AsyncIterable<unknown[]> =>
    scanned(async (cursor) => {
      const all = { target, count: PORTION, ...args, cursor };
      const [next, ...values] = await scripts.values(script, keys.base, all);
      return [next, values];
    });

  /** Yields every stored resource of a kind in any order; one that is stored meanwhile may be missing. */
  async function* resources(
    kind: Kind,
    { closes = false }: ClosingPolicy = {},
  ): AsyncGenerator<CoverPortion> {
    const asked = { kind, rulesReadGroups, closes: closes || undefined };
    for await (const [linked, others] of portions('read_coverage', asked)) {
      yield {
        linked: pairsOf(linked as string[]).map(([id, platformId]) => ({ ref: refOf(kind, id), platformId })),
        others: othersOf(kind, others),
      };
    }
  }

  /**
   * Yields counts in place of linked resources, and is faster: resources in the `synced` set are not read (lua/synced.lua).
   */
  async function* briefly(kind: Kind, { closes = false }: ClosingPolicy = {}): AsyncGenerator<BriefPortion> {
    const [stored, ordered] = await Promise.all([
      redis.hlen(keys.key(kind === 'User' ? 'users' : 'groups')),
      redis.zcard(keys.key('order', kind)),
    ]);
    // Only a complete index `order:<kind>` may replace the records.
    const inOrder = stored === ordered;
    const args = {
      kind,
      // A changed list of targets empties the `synced` sets.
      targets,
      rulesReadGroups,
      closes: closes || undefined,
      brief: true,
      ...(inOrder ? { inOrder, count: IDS_PORTION } : {}),
    };
    for await (const [linked, others] of portions('read_coverage', args))
      yield { linked: Number(linked), others: othersOf(kind, others) };
  }

  /** Makes the next brief scan read every resource. */
  async function readAllAnew(): Promise<void> {
    await redis.del(keys.key('synced', `${target}:User`), keys.key('synced', `${target}:Group`));
  }

  /** Yields deleted resources whose account is not closed, and with `closes` also those whose account or group is unknown. */
  async function* orphans({ closes = false }: ClosingPolicy = {}): AsyncGenerator<CoverPortion['others']> {
    for await (const [found] of portions('read_orphans', { closes: closes || undefined })) {
      yield pairsOf(found as string[]).map(([ref, state]) => ({
        ref: ref as Ref,
        state: state as CoverState,
      }));
    }
  }

  /** Returns the coverage of a kind, without a call to the platform. */
  async function read(kind: Kind): Promise<Coverage> {
    const coverage = noCoverage();
    for await (const portion of resources(kind)) count(coverage, portion);
    return coverage;
  }

  /**
   * Marks lost resources, and makes marks due that are neither in `dirty` nor in `inflight`. Other marks are not changed.
   */
  async function restoreMarks(refs: Ref[], request: string): Promise<void> {
    for (const portion of inPortions(refs, PORTION)) {
      const args = { target, targets: [target], refs: portion, request, priority: RECONCILE };
      await scripts.run('restore_marks', keys.base, args);
    }
  }

  /** Deletes links after the target became another tenant; their resources are missing then. */
  async function forgetLinks(refs: Ref[]): Promise<void> {
    for (const portion of inPortions(refs, PORTION))
      await scripts.run('forget_links', keys.base, { target, refs: portion });
  }

  return { forgetLinks, resources, briefly, readAllAnew, orphans, read, restoreMarks };
}
