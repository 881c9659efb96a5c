// The desired side of a comparison: every stored resource is either linked and shown, or on its way, or stays as it is for
// a reason that is known. What is none of these was lost, or its target is new.
import { count, LOST, noCoverage, type Coverage } from '../directory/coverage.ts';
import { parseRef, type Kind, type Ref } from '../directory/records.ts';
import type { Survey } from './estate.ts';

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

/** @param isListed whether the platform's list showed an id */
export async function readCover(
  survey: Survey,
  kind: Kind,
  isListed: (platformId: string) => boolean,
): Promise<Cover> {
  const coverage = { ...noCoverage(), seen: 0 };
  const cover: Cover = { coverage, absent: [], pending: [], lost: [], atRest: [] };
  for await (const portion of survey.estate.coverage.resources(kind)) {
    survey.signal.throwIfAborted();
    count(coverage, portion);
    for (const { ref, platformId } of portion.linked) {
      if (isListed(platformId)) coverage.seen++;
      else cover.absent.push(ref);
    }
    for (const { ref, state } of portion.others) {
      if (LOST.has(state)) cover.lost.push(ref);
      else cover[state === 'pending' ? 'pending' : 'atRest'].push(ref);
    }
  }
  for (const ref of cover.lost) survey.lost.add(ref);
  return cover;
}

/** What was deleted and is not closed yet, by kind; without its record a resource is in no other list. */
export interface Orphans {
  /** A sync is on its way. */
  pending: Ref[];
  /** To be looked at: nothing is on its way, or nobody deleted the resource that is gone. */
  suspects: Ref[];
}

export async function readOrphans(survey: Survey): Promise<Record<Kind, Orphans>> {
  const found: Record<Kind, Orphans> = {
    User: { pending: [], suspects: [] },
    Group: { pending: [], suspects: [] },
  };
  for await (const portion of survey.estate.coverage.orphans()) {
    for (const { ref, state } of portion) {
      const { pending, suspects } = found[parseRef(ref).kind];
      if (state === 'pending') pending.push(ref);
      if (LOST.has(state) || state === 'recordLost') suspects.push(ref);
      if (LOST.has(state)) survey.lost.add(ref);
    }
  }
  return found;
}
