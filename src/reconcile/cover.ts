// The desired side of a comparison: every stored resource is either linked and shown, or on its way, or stays as it is for
// a reason that is known. Any other resource was lost, or its target is new.
import {
  count,
  LOST,
  noCoverage,
  type BriefPortion,
  type Coverage,
  type CoverPortion,
} from '../directory/outbox/coverage.ts';
import { parseRef, type Kind, type Ref } from '../directory/records.ts';
import type { ScanResult } from './scope.ts';

export interface Cover {
  coverage: Coverage;
  /** Linked, and not in the list. */
  absent: Ref[];
  /** Marked: a sync is on its way. */
  pending: Ref[];
  /** To be marked by the run; added to `survey.lost` too. */
  lost: Ref[];
  /** Out of scope, or left as they are for now. */
  atRest: Ref[];
}

const nothing = (): Cover => ({ coverage: noCoverage(), absent: [], pending: [], lost: [], atRest: [] });

/** Reads all resources of a kind, the linked ones as a count. It may go on beside the walk through the list. */
export async function readCover(survey: ScanResult, kind: Kind): Promise<Cover> {
  const cover = nothing();
  for await (const portion of survey.estate.coverage.briefly(kind)) {
    survey.signal.throwIfAborted();
    take(cover, portion);
  }
  return cover;
}

function take(cover: Cover, portion: CoverPortion | BriefPortion): void {
  count(cover.coverage, portion);
  for (const { ref, state } of portion.others) {
    if (LOST.has(state)) cover.lost.push(ref);
    else cover[state === 'pending' ? 'pending' : 'atRest'].push(ref);
  }
}

/**
 * Compares the cover with the list. Each listed account that was matched belongs to another linked resource, so equal
 * counts prove that all of them were seen. Where the counts differ, every resource is read with its platform id.
 * @param matched listed ids that lead to a link with that id
 */
export async function compareWithList(
  survey: ScanResult,
  kind: Kind,
  cover: Cover,
  { matched, isListed }: { matched: number; isListed: (platformId: string) => boolean },
): Promise<Cover> {
  const found = cover.coverage.linked === matched ? cover : nothing();
  if (found !== cover) {
    for await (const portion of survey.estate.coverage.resources(kind)) {
      survey.signal.throwIfAborted();
      take(found, portion);
      for (const { ref, platformId } of portion.linked) if (!isListed(platformId)) found.absent.push(ref);
    }
  }
  for (const ref of found.lost) survey.lost.add(ref);
  found.coverage.seen = found.coverage.linked - found.absent.length;
  return found;
}

/** Deleted resources whose account is not closed yet, by kind; without its record a resource is in no other list. */
export interface Orphans {
  /** A sync is on its way. */
  pending: Ref[];
  /** Nothing is on its way; added to `survey.lost` too. */
  lost: Ref[];
}

export async function readOrphans(survey: ScanResult): Promise<Record<Kind, Orphans>> {
  const found: Record<Kind, Orphans> = {
    User: { pending: [], lost: [] },
    Group: { pending: [], lost: [] },
  };
  for await (const portion of survey.estate.coverage.orphans()) {
    for (const { ref, state } of portion) {
      const { pending, lost } = found[parseRef(ref).kind];
      if (state === 'pending') pending.push(ref);
      if (!LOST.has(state)) continue;
      lost.push(ref);
      survey.lost.add(ref);
    }
  }
  return found;
}
