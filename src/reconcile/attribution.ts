// Names the cause of a difference. Pure: decides by the platform's times of change, by its audit log, and by the time of
// the bridge's last write.
import type { Attribution, PlanEntry } from './entry.ts';
import { isDrift } from './entry.ts';
import type { VerifiedUsers } from './verify-users.ts';

/** One entry of the platform's audit log (contract 4.6). */
export interface AuditEvent {
  /** Unix milliseconds. */
  at: number;
  actor: string;
  event: string;
  /** Details of the entry as text; they contain names and ids of the changed object. */
  details: string;
}

export interface AuditTrail {
  /** Newest first. */
  events: readonly AuditEvent[];
  /** Name of the bridge's own account in the audit log, lower case; undefined when unknown. */
  ourselves: string | undefined;
}

/** Sets the attribution of every entry caused by drift. Without an audit log only times are known. */
export function attributeDrift(verified: VerifiedUsers[], trail: AuditTrail | undefined): PlanEntry[] {
  return verified.flatMap((each) =>
    each.entries.map((entry) =>
      isDrift(entry) ? { ...entry, attribution: attributionOf(entry, each, trail) } : entry,
    ),
  );
}

/** Returns the earliest time at which a difference can have begun, from which the audit log is read. */
export function earliestDrift(verified: VerifiedUsers[]): number | undefined {
  const times = verified
    .filter(({ entries }) => entries.some(isDrift))
    .map(({ changedAt, writtenAt }) => writtenAt ?? (changedAt === undefined ? NaN : Date.parse(changedAt)))
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : times.reduce((least, time) => Math.min(least, time));
}

function attributionOf(
  entry: PlanEntry,
  { changedAt, writtenAt }: VerifiedUsers,
  trail: AuditTrail | undefined,
): Attribution {
  // Entries before the bridge's last write are ignored. The comparison is as exact as the two clocks agree.
  const since = writtenAt ?? 0;
  const touched = (trail?.events ?? []).filter((event) => event.at > since && concerns(event, entry));
  const stranger = touched.find(({ actor }) => actor.toLowerCase() !== trail?.ourselves);
  if (stranger) return byEvent(stranger);
  const changed = changedAt === undefined ? NaN : Date.parse(changedAt);
  if (Number.isNaN(changed)) {
    // Without a time of change only the audit log can name a cause.
    const [last] = touched.filter(({ event }) => entry.action !== 'create' || /delet/i.test(event));
    return last ? byEvent(last) : { cause: 'platform changed' };
  }
  if (writtenAt !== undefined && changed <= writtenAt && entry.member === undefined)
    return { cause: 'write did not stick', at: new Date(writtenAt).toISOString() };
  const [last] = touched;
  return { ...(last ? byEvent(last) : { cause: 'platform changed' as const }), at: isoOf(changed) };
}

const isoOf = (time: number): string => new Date(time).toISOString();

const byEvent = ({ actor, at }: AuditEvent): Attribution => ({
  cause: 'platform changed',
  by: actor,
  at: isoOf(at),
});

/** Returns whether the details of an audit entry name the resource of a plan entry. */
function concerns({ details, event }: AuditEvent, { kind, name, member }: PlanEntry): boolean {
  const isAbout = (text: string): boolean =>
    text !== '' && details.toLowerCase().includes(JSON.stringify(text).toLowerCase());
  if (/logged|redirected/i.test(event)) return false;
  if (kind === 'Group') return isAbout(name) || (member !== undefined && isAbout(member.name));
  return isAbout(name);
}
