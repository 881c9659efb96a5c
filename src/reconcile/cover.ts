// The desired side of a comparison: every stored resource is either linked and shown, or on its way, or stays as it is for
// a reason that is known. What is none of these was lost, or its target is new.
import { count, LOST, noCoverage, type Coverage } from '../directory/coverage.ts';
import { parseRef, type Kind, type Ref } from '../directory/records.ts';
import type { Survey } from './estate.ts';

export interface Cover {
  coverage: Coverage;
  /** Linked, and not in the list. */
  absent: Ref[];
  /** The platform ids of those. */
  absentIds: string[];
  /** Marked: a sync is on its way. */
  pending: Ref[];
  /** To be marked by the run; added to `survey.lost` too. */
  lost: Ref[];
  /** Out of scope, or left as they are for now. */
  atRest: Ref[];
}

/**
 * Reads all resources of a kind. It may go on beside the walk through the list, so `absent` has to be looked at again
 * with `withList` once the whole list is here.
 * @param isListed whether the list has shown an id so far
 */
export async function readCover(
  survey: Survey,
  kind: Kind,
  isListed: (platformId: string) => boolean,
): Promise<Cover> {
  const coverage = noCoverage();
  const cover: Cover = { coverage, absent: [], absentIds: [], pending: [], lost: [], atRest: [] };
  for await (const portion of survey.estate.coverage.resources(kind)) {
    survey.signal.throwIfAborted();
    count(coverage, portion);
    for (const { ref, platformId } of portion.linked) {
      if (isListed(platformId)) continue;
      cover.absent.push(ref);
      cover.absentIds.push(platformId);
    }
    for (const { ref, state } of portion.others) {
      if (LOST.has(state)) cover.lost.push(ref);
      else cover[state === 'pending' ? 'pending' : 'atRest'].push(ref);
    }
  }
  for (const ref of cover.lost) survey.lost.add(ref);
  return cover;
}

/** The same as seen against the whole list. */
export function withList(cover: Cover, isListed: (platformId: string) => boolean): Cover {
  const isAbsent = cover.absentIds.map((id) => !isListed(id));
  const absent = cover.absent.filter((_, index) => isAbsent[index]);
  const absentIds = cover.absentIds.filter((_, index) => isAbsent[index]);
  const coverage = { ...cover.coverage, seen: cover.coverage.linked - absent.length };
  return { ...cover, coverage, absent, absentIds };
}

/** What was deleted and is not closed yet, by kind; without its record a resource is in no other list. */
export interface Orphans {
  /** A sync is on its way. */
  pending: Ref[];
  /** Nothing is on its way; added to `survey.lost` too. */
  lost: Ref[];
}

export async function readOrphans(survey: Survey): Promise<Record<Kind, Orphans>> {
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
