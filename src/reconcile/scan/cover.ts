// Classifies every stored resource: linked, pending, or excluded for a known reason. Any other resource is lost or new at
// this target, and the run marks it (ADR 0021). "The list" is all accounts or groups that the platform lists.
import {
  count,
  LOST,
  noCoverage,
  type BriefPortion,
  type ClosingPolicy,
  type CoverPortion,
  type CoverState,
} from '../../directory/outbox/coverage.ts';
import { parseRef, type Kind, type Ref } from '../../directory/records.ts';
import { rejectedRefs } from '../unwritten/held.ts';
import type { ScanResult } from '../scope.ts';
import { observedLinks } from '../unwritten/observed-links.ts';
import type { ListProof } from './list-proof.ts';

/** The stored resources of a kind by their state (CoverState). */
export type Cover = ReturnType<typeof emptyCover>;

/** States of resources whose mark leads to a sync. A resource in the state `stuck` has a mark too, but no sync is due (LOST). */
const DUE: ReadonlySet<CoverState> = new Set(['pending', 'behindHeld', 'behindRefused']);

const emptyCover = () => ({
  coverage: noCoverage(),
  /** Linked resources that the list does not show; set by `compareWithList`. */
  absent: [] as Ref[],
  /** Resources with a mark whose sync is due or waits for an operator. */
  pending: [] as Ref[],
  /** Resources that need a sync although none is due (LOST); `compareWithList` adds them to `scan.lost`. */
  lost: [] as Ref[],
  /** All other resources that are not linked and synced: out of scope, or with a condition such as a rejected change. */
  atRest: [] as Ref[],
  /** States of the resources in `lost` and `atRest`: no sync of them is due. */
  notDue: new Map<Ref, CoverState>(),
});

/** Returns whether the policy of the target closes accounts, as an option of the reads of the coverage. */
const closingOf = ({ scope }: ScanResult): ClosingPolicy => ({
  closes: scope.target.policy.policy === 'sync',
});

/** Classifies all resources of a kind; linked ones are only counted. Runs in parallel to the scan of the list. */
export async function readCover(scan: ScanResult, kind: Kind): Promise<Cover> {
  const cover = emptyCover();
  for await (const portion of scan.scope.coverage.briefly(kind, closingOf(scan))) {
    scan.signal.throwIfAborted();
    addPortion(cover, portion);
  }
  return cover;
}

/** Adds the counts and resources of a portion to the cover. */
function addPortion(cover: Cover, portion: CoverPortion | BriefPortion): void {
  count(cover.coverage, portion);
  for (const { ref, state } of portion.others) {
    if (LOST.has(state)) cover.lost.push(ref);
    else cover[DUE.has(state) ? 'pending' : 'atRest'].push(ref);
    if (!DUE.has(state)) cover.notDue.set(ref, state);
  }
}

/**
 * Finds linked resources that the list does not show. Each link matches at most one listed account or group. If as many match as
 * there are links, the list shows all; otherwise every linked resource is read with its platform id. A link that is stored between
 * the two counts can hide an absent resource from this run; the next run finds that resource.
 * @param matched number of listed accounts or groups that match a link
 * @returns the cover with `absent` and `coverage.seen` set, `seen` only for a complete list; its lost resources are added to
 *   `scan.lost`
 */
export async function compareWithList(
  scan: ScanResult,
  kind: Kind,
  cover: Cover,
  {
    matched,
    isListed,
    proof,
  }: { matched: number; isListed: (platformId: string) => boolean; proof: ListProof },
): Promise<Cover> {
  const areAllShown = cover.coverage.linked === matched;
  const found = areAllShown ? cover : emptyCover();
  if (!areAllShown) {
    for await (const portion of scan.scope.coverage.resources(kind, closingOf(scan))) {
      scan.signal.throwIfAborted();
      addPortion(found, portion);
      for (const { ref, platformId } of portion.linked) if (!isListed(platformId)) found.absent.push(ref);
    }
  }
  for (const ref of found.lost) scan.lost.add(ref);
  // A resource may be on a page that did not arrive, so an incomplete list tells no number.
  found.coverage.seen = proof.complete ? found.coverage.linked - found.absent.length : null;
  return found;
}

/** Returns the resources with a held or rejected change whose account or group the list does not show. */
export async function unlistedWaiting(
  { scope }: ScanResult,
  kind: Kind,
  isListed: (platformId: string) => boolean,
): Promise<Ref[]> {
  const waiting = [...(await scope.outbox.guardStore.heldRefs()), ...(await rejectedRefs(scope))];
  const refs = [...new Set(waiting)].filter((ref) => parseRef(ref).kind === kind);
  return [...(await observedLinks(scope.drifts, refs))].flatMap(([ref, { id }]) =>
    id !== undefined && !isListed(id) ? [ref] : [],
  );
}

/**
 * Deleted resources whose account or group the bridge has not closed or deleted yet. Their records are gone, so no other list
 * contains them.
 */
export interface Orphans {
  /** Orphans whose sync is due. */
  pending: Ref[];
  /** Orphans of which no sync is due; also added to `scan.lost`. */
  lost: Ref[];
}

/** Returns the orphans of both kinds, and adds the lost ones to `scan.lost`. */
export async function readOrphans(scan: ScanResult): Promise<Record<Kind, Orphans>> {
  const found: Record<Kind, Orphans> = {
    User: { pending: [], lost: [] },
    Group: { pending: [], lost: [] },
  };
  for await (const portion of scan.scope.coverage.orphans(closingOf(scan))) {
    for (const { ref, state } of portion) {
      const { pending, lost } = found[parseRef(ref).kind];
      if (DUE.has(state)) pending.push(ref);
      if (!LOST.has(state)) continue;
      lost.push(ref);
      scan.lost.add(ref);
    }
  }
  return found;
}
