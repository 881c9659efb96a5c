// Classifies every stored resource: linked, pending, or excluded for a known reason. Any other resource is lost or new at
// this target, and the run marks it (ADR 0021).
import {
  count,
  LOST,
  noCoverage,
  type BriefPortion,
  type Coverage,
  type CoverPortion,
  type CoverState,
} from '../../directory/outbox/coverage.ts';
import { parseRef, type Kind, type Ref } from '../../directory/records.ts';
import { rejectedRefs } from '../unwritten/held.ts';
import type { ScanResult } from '../scope.ts';
import { observedLinks } from '../unwritten/waiting-for-decision.ts';

/** All stored resources of a kind by their state. */
export interface Cover {
  /** The number of resources in each state. */
  coverage: Coverage;
  /** Linked resources that the list does not show. */
  absent: Ref[];
  /** Resources with a mark. */
  pending: Ref[];
  /** Resources without link and mark; also added to `scan.lost`. */
  lost: Ref[];
  /** Resources out of scope or with a condition, such as a rejected approval. */
  atRest: Ref[];
  /** States of the resources without a mark that are not linked and synced. */
  unmarked: Map<Ref, CoverState>;
}

/** States of resources with a mark. */
const MARKED: ReadonlySet<CoverState> = new Set(['pending', 'behindHeld']);

const emptyCover = (): Cover => ({
  coverage: noCoverage(),
  absent: [],
  pending: [],
  lost: [],
  atRest: [],
  unmarked: new Map(),
});

/** Classifies all resources of a kind; linked ones are only counted. Runs in parallel to the scan of the list. */
export async function readCover(scan: ScanResult, kind: Kind): Promise<Cover> {
  const cover = emptyCover();
  for await (const portion of scan.scope.coverage.briefly(kind)) {
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
    else cover[MARKED.has(state) ? 'pending' : 'atRest'].push(ref);
    if (!MARKED.has(state)) cover.unmarked.set(ref, state);
  }
}

/**
 * Finds linked resources that the list does not show. If the list matched as many links as there are, all were shown;
 * otherwise every linked resource is read with its platform id.
 * @param matched number of listed accounts or groups that match a link
 * @returns the cover with `absent` and `coverage.seen` set; its lost resources are added to `scan.lost`
 */
export async function compareWithList(
  scan: ScanResult,
  kind: Kind,
  cover: Cover,
  { matched, isListed }: { matched: number; isListed: (platformId: string) => boolean },
): Promise<Cover> {
  const areAllShown = cover.coverage.linked === matched;
  const found = areAllShown ? cover : emptyCover();
  if (!areAllShown) {
    for await (const portion of scan.scope.coverage.resources(kind)) {
      scan.signal.throwIfAborted();
      addPortion(found, portion);
      for (const { ref, platformId } of portion.linked) if (!isListed(platformId)) found.absent.push(ref);
    }
  }
  for (const ref of found.lost) scan.lost.add(ref);
  found.coverage.seen = found.coverage.linked - found.absent.length;
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

/** Deleted resources whose account is not closed yet. Their records are gone, so no other list contains them. */
export interface Orphans {
  /** Orphans with a mark, so that their sync is due. */
  pending: Ref[];
  /** Orphans without a mark, so that no sync is due; also added to `scan.lost`. */
  lost: Ref[];
}

/** Returns the orphans of both kinds, and adds those without a mark to `scan.lost`. */
export async function readOrphans(scan: ScanResult): Promise<Record<Kind, Orphans>> {
  const found: Record<Kind, Orphans> = {
    User: { pending: [], lost: [] },
    Group: { pending: [], lost: [] },
  };
  for await (const portion of scan.scope.coverage.orphans()) {
    for (const { ref, state } of portion) {
      const { pending, lost } = found[parseRef(ref).kind];
      if (MARKED.has(state)) pending.push(ref);
      if (!LOST.has(state)) continue;
      lost.push(ref);
      scan.lost.add(ref);
    }
  }
  return found;
}
