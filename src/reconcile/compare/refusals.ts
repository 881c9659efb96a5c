// Replaces entries whose write the platform has refused permanently, because a run would only get the same refusal again.
// Pure.
import { conditionText } from '../../directory/outbox/condition-text.ts';
import { isBySettingsOfThen } from '../../directory/outbox/link-condition.ts';
import type { Ref } from '../../directory/records.ts';
import { givenUpText } from '../../sync/names/taken-by-connection.ts';
import { isChange, isDrift, reportedAs, type PlanEntry } from '../entry.ts';
import { WAITS_FOR_GROUP } from './group-case.ts';
import type { VerifiedResource } from './verified.ts';

/** Writes that the platform has refused permanently, and the settings that decide whether they are refused again. */
export interface Refusals {
  /** Dead letters with the time of the first refusal for the present reason, Unix milliseconds; dropped ones are left out. */
  blocked: ReadonlyMap<Ref, number>;
  /** Dead letters about an account or group that another connection has given up; the run tries them again. */
  givenUp?: ReadonlySet<Ref>;
  /**
   * Whether the mapping rules changed, so that a refused write may be different now. Undefined before the first complete run: then
   * the settings at the time of the refusal (`Condition.settings`) decide.
   */
  rulesChanged: boolean | undefined;
  /** Print of the present settings of the target. */
  settings: string;
}

/**
 * Replaces the entries of resources that were refused and have not changed since the refusal. A dead letter becomes one
 * conflict entry, and a `report` entry for each membership that waits for the group. If an operator dropped the dead letter, so
 * that it is not tried again, the entries stay with the effect `report`.
 */
export function applyRefusals(verified: VerifiedResource[], refusals: Refusals): VerifiedResource[] {
  return verified.map((each) => {
    const { refusal, entries } = each;
    if (refusal === undefined) return each;
    const since = refusals.blocked.get(each.ref);
    const refused = entries.filter((entry) => isRefusedBefore(entry, each, refusals));
    if (refused.length === 0) return each;
    const others = entries.filter((entry) => !refused.includes(entry));
    const reason = refusals.givenUp?.has(each.ref)
      ? `a dead letter: ${givenUpText(each.ref)}`
      : `${refusal.reason}: ${conditionText(refusal, refusals.settings)}`;
    // `since` is set only for a dead letter that no operator dropped.
    if (since !== undefined) {
      const faults = others.filter(isFault);
      const left = others.filter((entry) => !isFault(entry));
      const conflict = toConflict(refused, withFaults(reason, faults));
      return { ...each, entries: [...left, conflict, ...waiting(refused)] };
    }
    const shown = refused.map((entry) =>
      reportedAs(entry, `; dropped from the dead letters after ${reason}`),
    );
    return { ...each, entries: [...others, ...shown] };
  });
}

/** Returns whether the platform refused the same write already, so that a run need not try it. */
function isRefusedBefore(
  entry: PlanEntry,
  { ref, changedAt, refusal }: VerifiedResource,
  { blocked, rulesChanged, settings }: Refusals,
): boolean {
  // No run writes an entry that is no change, and a write that was never tried was not refused.
  if (!isChange(entry) || entry.attribution.cause === 'not applied') return false;
  // The resource has no newer mark, so a change of the source is the write that the platform refused. Under mapping rules or
  // settings that changed since, the values may differ from the refused ones.
  const mayDiffer = rulesChanged ?? (refusal !== undefined && isBySettingsOfThen(refusal, settings));
  if (!isDrift(entry)) return entry.attribution.cause === 'source changed' || !mayDiffer;
  // The closing of an account is tried again in every run, because the person has access until it succeeds. The closing also
  // precedes the deletion of an open account.
  if (entry.action === 'deactivate' || (entry.action === 'delete' && entry.before?.active === true))
    return false;
  // The first create after a deletion at the platform is tried: its link still has the id. After a refused create the link has
  // none.
  if ((entry.action === 'create' || entry.action === 'relink') && entry.platformId !== null) return false;
  const since = blocked.get(ref);
  // The time of the refusal is not known after an operator dropped the dead letter, so drift may be newer and is tried.
  if (since === undefined) return false;
  // Without a time of change at the platform nothing shows that the drift is newer than the refusal.
  return changedAt === undefined || Date.parse(changedAt) <= since;
}

/** Returns whether the entry is a conflict of the whole resource, such as a mapping that fails; it is merged with the refusal. */
const isFault = ({ action, attribute, member }: PlanEntry): boolean =>
  action === 'conflict' && attribute === undefined && member === undefined;

/** Returns the reason with the faults that it does not name already; only reasons of faults begin with `attribute ` (faultEntries). */
function withFaults(reason: string, faults: readonly PlanEntry[]): string {
  const more = faults.filter((fault) => !reason.includes(fault.reason.replace(/^attribute /, '')));
  return [reason, ...more.map((fault) => fault.reason)].join('; ');
}

/** Merges the refused entries of one resource into one conflict, with their values but without memberships. */
function toConflict(refused: PlanEntry[], reason: string): PlanEntry {
  const [first] = refused as [PlanEntry, ...PlanEntry[]];
  const { attribute: _attribute, member: _member, ...common } = first;
  // Memberships get entries of their own (`waiting`).
  const own = refused.filter(({ member }) => member === undefined);
  const merged = (values: PlanEntry['before'][]): PlanEntry['before'] =>
    values.every((value) => value === null)
      ? null
      : Object.fromEntries(values.flatMap((value) => Object.entries(value ?? {})));
  return {
    ...common,
    action: 'conflict',
    before: merged(own.map(({ before }) => before)),
    after: merged(own.map(({ after }) => after)),
    effect: 'report',
    reason,
    attribution: { cause: 'none' },
  };
}

/** Returns `report` entries for the memberships of a group that is a dead letter. */
const waiting = (refused: readonly PlanEntry[]): PlanEntry[] =>
  refused.filter(({ member }) => member !== undefined).map((entry) => reportedAs(entry, WAITS_FOR_GROUP));
