// Names the cause of a difference, the `attribution` of its plan entry. Pure. `earliestDrift` tells from which time on the audit
// log of the platform has to be read; `attributeDrift` then decides. The cause follows from the audit log and from three times:
// when the platform last changed the resource, when the bridge last wrote the resource, and when it last wrote the differing
// value. Two causes have rules of their own: a restore (`isBeforeRestore`), and a deleted definition of an attribute
// (`goneByDeletion`).
import type { Ref } from '../../directory/records.ts';
import { isoTime } from '../../support/sources.ts';
import type { Attribution, PlanEntry } from '../entry.ts';
import { isDrift, NEWLY_LINKED } from '../entry.ts';
import type { Restored } from '../tenant/restored.ts';
import type { ValueWrittenAt } from './last-writes.ts';
import type { VerifiedResource } from './verified.ts';

/** One entry of the platform's audit log (contract 4.6). */
export interface AuditEvent {
  /** Unix milliseconds. */
  at: number;
  actor: string;
  event: string;
  /** Details of the entry as text; they contain names and ids of the changed object. */
  details: string;
}

/** Entries of the platform's audit log that name the actor of a change. */
export interface AuditTrail {
  /** Newest first. */
  events: readonly AuditEvent[];
  /** Name of the bridge's own account in the audit log, lower case; undefined when unknown. */
  ourselves: string | undefined;
}

/** Facts by which a cause is decided. */
export interface DriftFacts {
  /** Undefined: the tenant has no audit log, or the key may not read it. Then only times are known. */
  trail: AuditTrail | undefined;
  lastWrite: ValueWrittenAt;
  /** The last restore, if it may still explain differences (`ifOpen` in tenant/restored.ts). */
  openRestore: Restored | undefined;
  /** Attributes whose definition was deleted at the platform, with all values (`readDefinitions`). */
  deleted: ReadonlySet<string> | undefined;
}

/**
 * Returns the earliest time at which a difference can have begun, Unix milliseconds: the audit log is read from there.
 * Undefined: there is no difference, or none with a known time.
 */
export function earliestDrift(verified: VerifiedResource[], lastWrite: ValueWrittenAt): number | undefined {
  let earliest: number | undefined;
  for (const { entries, changedAt, writtenAt } of verified)
    for (const entry of entries.filter(isDrift)) {
      const time = lastWrite(entry) ?? writtenAt ?? timeOf(changedAt);
      if (!Number.isNaN(time)) earliest = Math.min(earliest ?? time, time);
    }
  return earliest;
}

/** Parses the platform's time of change. @returns Unix milliseconds; NaN without a time */
const timeOf = (changedAt: string | undefined): number =>
  changedAt === undefined ? NaN : Date.parse(changedAt);

/** Returns all entries; each entry caused by drift has its attribution set. */
export function attributeDrift(verified: VerifiedResource[], facts: DriftFacts): PlanEntry[] {
  const hasEnded = endedWithAccount(verified);
  return verified.flatMap((each) =>
    each.entries.map((entry) =>
      isDrift(entry)
        ? (goneByDeletion(entry, facts) ??
          withReason({ ...entry, attribution: attributionOf(entry, each, facts, hasEnded) }))
        : entry,
    ),
  );
}

/** Returns the entry of a value that is gone with the deleted definition of its attribute; undefined for every other entry. */
function goneByDeletion(entry: PlanEntry, { deleted }: DriftFacts): PlanEntry | undefined {
  const { attribute, before } = entry;
  const isGone = attribute !== undefined && deleted?.has(attribute) && (before?.[attribute] ?? null) === null;
  return isGone ? { ...entry, reason: DELETED_WITH, attribution: { cause: 'platform changed' } } : undefined;
}

const DELETED_WITH = 'its value is gone, because the definition of the attribute was deleted at the platform';

/** Returns a test of whether a membership ended with the account of the member, which is gone or is to be made or linked anew. */
function endedWithAccount(verified: VerifiedResource[]): (entry: PlanEntry) => boolean {
  const refs = new Set(
    verified
      .flatMap(({ entries }) => entries)
      .filter(
        ({ action, attribution }) => NEWLY_LINKED.has(action) && attribution.cause === 'platform changed',
      )
      .map(({ ref }) => ref),
  );
  for (const { membersGone = [] } of verified) for (const ref of membersGone) refs.add(ref);
  return ({ member }) => member !== undefined && refs.has(member.ref);
}

/**
 * Returns the cause of one difference, with actor and time if they are known. In this order: another account's entry in the audit
 * log; an open restore; times that show a write which did not stick; a later entry of the bridge's own account; the platform's time
 * of change alone.
 */
function attributionOf(
  entry: PlanEntry,
  // Default 0: the bridge has written nothing, so every change is later.
  { changedAt, writtenAt = 0 }: VerifiedResource,
  { trail, lastWrite, openRestore }: DriftFacts,
  hasEnded: (entry: PlanEntry) => boolean,
): Attribution {
  const valueWrittenAt = lastWrite(entry);
  // The search begins at the bridge's last write of this value: others may have changed it at any time since. Without the name of
  // the bridge's own account it begins at the last write of the resource, because earlier entries may be the bridge's own writes of
  // other values.
  const since = (trail?.ourselves === undefined ? undefined : valueWrittenAt) ?? writtenAt;
  const touched = (trail?.events ?? []).filter((event) => event.at > since && concerns(event, entry));
  const stranger = touched.find(({ actor }) => actor.toLowerCase() !== trail?.ourselves);
  if (stranger) return byEvent(stranger);
  const own = touched.find((event) => event.at > writtenAt && explains(event, entry));
  const changed = timeOf(changedAt);
  if (openRestore && isBeforeRestore(openRestore, { changed, writtenAt, valueWrittenAt }))
    return { ...(own ? byEvent(own) : {}), cause: 'changed after the backup' };
  if (Number.isNaN(changed)) {
    // Without a time of change only the audit log can name another cause.
    return own ? byEvent(own) : entry.attribution;
  }
  // A membership that ended with the account of its member is no write that did not stick: the platform had stored it.
  if (!hasEnded(entry) && valueWrittenAt !== undefined && changed <= valueWrittenAt)
    return { cause: 'write did not stick', at: isoTime(valueWrittenAt) };
  if (own) return { ...byEvent(own), at: isoTime(changed) };
  // The platform has one time of change for all values. A time up to the bridge's last write of the resource is that of the
  // bridge's own write of another value, so it is unknown when this value changed.
  return changed <= writtenAt
    ? { cause: 'platform changed' }
    : { cause: 'platform changed', at: isoTime(changed) };
}

/**
 * Returns whether an entry of the bridge's own account explains the difference. An entry that is newer than the bridge's last known
 * write is none of the known writes: a restore may have made the bridge forget it, or somebody else uses the key. Of these, only a
 * deletion (`Deleted user via SCIM`) explains that a resource has to be created again.
 */
const explains = ({ event }: AuditEvent, { action }: PlanEntry): boolean =>
  action !== 'create' || /delet/i.test(event);

/**
 * Returns whether the details of an audit entry name the resource of a plan entry. The details are JSON: a name is searched with
 * its quotes, so that `Ann` does not match `Anna`.
 */
function concerns({ details, event }: AuditEvent, { kind, name, member }: PlanEntry): boolean {
  const isAbout = (text: string): boolean =>
    text !== '' && details.toLowerCase().includes(JSON.stringify(text).toLowerCase());
  // A sign-in (`Logged in`, `Redirected to SAML provider for login`; contract 4.6) names the person too, and changes nothing.
  if (/logged|redirected/i.test(event)) return false;
  if (kind === 'Group') return isAbout(name) || (member !== undefined && isAbout(member.name));
  return isAbout(name);
}

const byEvent = ({ actor, at }: AuditEvent): Attribution => ({
  cause: 'platform changed',
  by: actor,
  at: isoTime(at),
});

/** Returns whether the change may have been made between backup and restore. The times default to 0: unknown, or no write. */
function isBeforeRestore(
  { at, backupAt = 0 }: Restored,
  {
    changed,
    writtenAt,
    valueWrittenAt = 0,
  }: { changed: number; writtenAt: number; valueWrittenAt?: number | undefined },
): boolean {
  if (valueWrittenAt > at || changed <= backupAt) return false;
  // A time of change after the restore may be the bridge's own write of another value, which says nothing about this value.
  return Number.isNaN(changed) || changed <= Math.max(at, writtenAt);
}

/**
 * Replaces the reason of a write that did not stick. A value that is gone has a second possible cause: when an attribute
 * definition is deleted and made again, all its values are gone, although no account shows a time of change.
 */
function withReason(entry: PlanEntry): PlanEntry {
  const { action, attribute, attribution, before } = entry;
  if (attribution.cause !== 'write did not stick') return entry;
  if (action === 'addMember') return { ...entry, reason: MEMBER_LEFT_OUT };
  const isGone = attribute !== undefined && (before?.[attribute] ?? null) === null;
  return isGone ? { ...entry, reason: VALUE_GONE } : entry;
}

const MEMBER_LEFT_OUT = 'member at the source; the platform answered an earlier addition with success';

const VALUE_GONE =
  'its value is not there any more: the write did not stick, or the definition of the attribute was deleted and made again';

/** Replaces the cause `mapping changed` by `not applied` in the entries of lost resources (`ScanResult.lost`). */
export const withLostCause = (lost: ReadonlySet<Ref>, verified: VerifiedResource[]): VerifiedResource[] =>
  verified.map((each) => (lost.has(each.ref) ? { ...each, entries: each.entries.map(toNotApplied) } : each));

/** Returns the entry of a lost resource: nothing of it was applied before, so no mapping can have changed. */
const toNotApplied = (entry: PlanEntry): PlanEntry =>
  entry.attribution.cause === 'mapping changed'
    ? { ...entry, attribution: { ...entry.attribution, cause: 'not applied' } }
    : entry;
