// Finds resources for which a run does not wait, because no end of their syncs is in sight: they wait for a decision of a person,
// or are tried again and again without success.
import type { Link } from '../../directory/outbox/link.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { Directory } from '../../directory/resources/directory.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { MOST_NAMED, someOf } from '../../support/sentence-parts.ts';
import { wasBehindHold } from '../../sync/gate.ts';
import { OWNER_UNTOLD } from '../../sync/target.ts';
import type { ReconcileScope } from '../scope.ts';
import { removalStops } from './removal-stops.ts';

/**
 * Marked resources for which a run does not wait, with the cause. `held`: the resource waits for a change that the guard holds.
 * `refused`: the person waits for the removal from a group whose last sync was refused.
 */
export type PutOff = Map<Ref, 'held' | 'refused' | FailingChange>;

/**
 * A change that is tried again and again. The platform answers the write with success and does not carry it out, or its calls fail
 * (both `NotApplied`). Or it waits for a name, until the pending change of the holder is written (`NameTaken`). Or the platform
 * does not tell whether the person owns the API key (OWNER_UNTOLD).
 */
interface FailingChange {
  ref: Ref;
  /** userName or displayName at the platform; undefined: the link has none. */
  name: string | undefined;
  /** Unix milliseconds. */
  since: number;
  /** The reason of the last failure. */
  message: string;
}

/** Number of failures in a row from which a resource counts as failing; a single ignored write may be an accident. */
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
  const putOff: PutOff = new Map();
  for (const { ref, link } of all) {
    // Not every condition `Held` counts: a resource whose own change was held and approved keeps it until its sync succeeds.
    const stop = wasBehindHold(link) ? 'heldRemoval' : stops.get(ref);
    const [failing] =
      link.condition?.message === OWNER_UNTOLD ? toFailing(ref, link) : failingChange(ref, link);
    const causeOfStop = stop && (stop === 'heldRemoval' ? 'held' : 'refused');
    const cause = causeOfStop ?? failing;
    if (cause && (await isLater(ref))) putOff.set(ref, cause);
  }
  return putOff;
}

/** Returns whether the sync of a user may wait for removals from groups: such a sync neither failed nor waits for a name. */
const mayWait = ({ attempts, successionAttempts, condition }: Link): boolean =>
  attempts === undefined && successionAttempts === undefined && condition === undefined;

/** Returns the change of a marked resource if it counts as failing, else nothing. */
export function failingChange(ref: Ref, link: Link): FailingChange[] {
  const { attempts = 0, condition } = link;
  const isFailing = condition?.reason === 'NotApplied' && attempts >= FAILS_AGAIN;
  return isFailing || condition?.reason === 'NameTaken' ? toFailing(ref, link) : [];
}

/** Returns the change of a resource with its condition as a failing one; nothing without a condition. */
function toFailing(ref: Ref, { condition, core }: Link): FailingChange[] {
  if (!condition) return [];
  const stored = core?.userName ?? core?.displayName;
  const name = stored === undefined ? undefined : String(stored);
  return [{ ref, name, since: condition.since, message: condition.message }];
}

/**
 * Returns the names of failing changes, and the reason of the first one. A resource without an account or group has the name of its
 * record, and without a record its id.
 * @param failing at least one
 */
export async function failingWords(
  directory: Pick<Directory, 'getMany'>,
  failing: readonly FailingChange[],
): Promise<string> {
  const shown = failing.slice(0, MOST_NAMED);
  const inRecords = await readRecordNames(
    directory,
    shown.flatMap(({ ref, name }) => (name === undefined ? [ref] : [])),
  );
  const names = shown.map(({ ref, name }) => name ?? inRecords.get(ref) ?? parseRef(ref).id);
  return `${someOf(names, { count: failing.length })}${failing.length === 1 ? ', ' : '; the first: '}${failing[0]?.message ?? ''}`;
}
