// Finds resources for which a run does not wait, because their next sync does not end by itself: it waits for a decision of a
// person, or the platform ignores the write again and again.
import type { Link } from '../../directory/outbox/links.ts';
import type { Ref } from '../../directory/records.ts';
import { wasBehindHold } from '../../sync/gate.ts';
import type { ReconcileScope } from '../scope.ts';
import { removalStops } from './waiting-for-decision.ts';

/** Marked resources for which a run does not wait, by cause. */
export interface PutOff {
  /** Resources that wait for a change that the guard holds. */
  held: Ref[];
  /** People whose removal from a group was refused. */
  refused: Ref[];
  /** Resources whose write the platform ignores, with the reason of the last failure. */
  failing: { ref: Ref; message: string }[];
}

/** Number of ignored writes in a row from which a resource counts as failing; a single one may be an accident. */
const FAILS_AGAIN = 2;

/** Returns the marked resources for which a run does not wait, by cause. @param refs marked resources */
export async function readPutOff(
  scope: Pick<ReconcileScope, 'links' | 'outbox' | 'target' | 'clock' | 'directory' | 'drifts'>,
  refs: Ref[],
): Promise<PutOff> {
  const { links, outbox, target, clock } = scope;
  const found = await links.getMany(target.name, refs);
  const all = refs.map((ref, index) => ({ ref, link: found[index] ?? {} }));
  const stops = await removalStops(
    scope,
    all.flatMap(({ ref, link }) => (ref.startsWith('User:') && mayWait(link) ? [ref] : [])),
  );
  const isLater = async (ref: Ref): Promise<boolean> => {
    const { mark } = await outbox.resourceStatus(ref);
    return mark?.state === 'due' && (mark.dueAt ?? 0) > clock.now();
  };
  const putOff: PutOff = { held: [], refused: [], failing: [] };
  for (const { ref, link } of all) {
    // A resource whose own change was held and approved keeps its condition until its sync succeeds.
    const stop = wasBehindHold(link) ? 'heldRemoval' : stops.get(ref);
    const isPutOff = (stop !== undefined || isFailing(link)) && (await isLater(ref));
    if (!isPutOff) continue;
    if (stop === 'heldRemoval') putOff.held.push(ref);
    else if (stop) putOff.refused.push(ref);
    else putOff.failing.push({ ref, message: link.condition?.message ?? '' });
  }
  return putOff;
}

/** Returns whether the sync of a user may wait for removals from groups: such a sync neither failed nor waits for a name. */
const mayWait = ({ attempts, successionAttempts, condition }: Link): boolean =>
  attempts === undefined && successionAttempts === undefined && condition === undefined;

/** Returns whether the platform ignored the write more than once. */
const isFailing = ({ attempts = 0, condition }: Link): boolean =>
  condition?.reason === 'NotApplied' && attempts >= FAILS_AGAIN;
