// Names the cause of a difference. Pure: decides by the platform's times of change, by its audit log, and by the time of
// the bridge's last write.
import type { Attribution, PlanEntry } from './entry.ts';
import { isDrift } from './entry.ts';
import type { VerifiedUsers } from './verify-users.ts';

/** One line of the platform's audit log, as far as it helps (contract 4.6). */
export interface AuditEvent {
  /** Unix milliseconds. */
  at: number;
  actor: string;
  event: string;
  /** The whole of its details as text; names and ids of what was changed are in there. */
  details: string;
}

export interface AuditTrail {
  /** Newest first. */
  events: readonly AuditEvent[];
  /** The bridge's own name in the audit log, lower case; undefined when the platform does not tell. */
  ourselves: string | undefined;
}

/** Fills in the attribution of every entry that drift has caused. Without a trail only times are known. */
export function attributeDrift(examined: VerifiedUsers[], trail: AuditTrail | undefined): PlanEntry[] {
  return examined.flatMap((each) =>
    each.entries.map((entry) =>
      isDrift(entry) ? { ...entry, attribution: attributionOf(entry, each, trail) } : entry,
    ),
  );
}

/** When the differences of a plan began at the earliest; how far back the audit log is worth reading. */
export function earliestDrift(examined: VerifiedUsers[]): number | undefined {
  const times = examined
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
  // Our own writes were answered by then. Clocks that differ blur this by as much as they differ.
  const since = writtenAt ?? 0;
  const touched = (trail?.events ?? []).filter((event) => event.at > since && concerns(event, entry));
  const stranger = touched.find(({ actor }) => actor.toLowerCase() !== trail?.ourselves);
  if (stranger) return byEvent(stranger);
  const changed = changedAt === undefined ? NaN : Date.parse(changedAt);
  if (Number.isNaN(changed)) {
    // Gone, or a platform without times: only the audit log can say more.
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

/** Whether an event is about the resource of an entry: its details name it. */
function concerns({ details, event }: AuditEvent, { kind, name, member }: PlanEntry): boolean {
  const isAbout = (text: string): boolean =>
    text !== '' && details.toLowerCase().includes(JSON.stringify(text).toLowerCase());
  if (/logged|redirected/i.test(event)) return false;
  if (kind === 'Group') return isAbout(name) || (member !== undefined && isAbout(member.name));
  return isAbout(name);
}
