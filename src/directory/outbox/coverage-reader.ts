// Reads the coverage of a target (coverage.ts) from Redis in portions: `resources` and `briefly` for a run, `read` for the counts
// alone. Also changes for reconcile what a run decides: marks lost resources, and forgets the links to a former tenant.
import { PRIORITIES, refOf, type Kind, type Ref } from '../records.ts';
import { pairsOf, inPortions, scanned } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import {
  count,
  noCoverage,
  type BriefPortion,
  type ClosingPolicy,
  type Coverage,
  type CoverPortion,
  type CoverState,
} from './coverage.ts';

/** Number of the priority `reconcile`, as the scripts take it. */
const RECONCILE = PRIORITIES.indexOf('reconcile');
/** Resources per script call: few, as a script blocks Redis and records may be long. */
const PORTION = 200;
/** Resources per script call when most records are not read. */
const IDS_PORTION = 1000;

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
