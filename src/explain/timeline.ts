// Builds the timeline of a resource from its record, mark, log entries and the last reconcile. Pure.
import { initiatorTypeOf } from '../ops/log/initiator.ts';
import type { LocatedEntry } from '../ops/log/provisioning-log.ts';
import { STATUS_WORDS } from '../ops/log/provisioning-record.ts';
import { withoutGuardHolds } from '../reconcile/text/exception-words.ts';
import type { Explanation } from './explanation.ts';
import { counted } from '../support/counted.ts';
import { isoTime } from '../support/sources.ts';

type Facts = Pick<
  Explanation,
  'kind' | 'stored' | 'deletedAt' | 'mark' | 'lastReconcile' | 'log' | 'restored'
>;
type Event = Explanation['timeline'][number];

/** Returns the events, oldest first. An applied change has two events: when it was accepted, and when it was written. */
export function toTimeline({ kind, stored, deletedAt, mark, lastReconcile, log, restored }: Facts): Event[] {
  const events: Event[] = [];
  if (stored) events.push({ at: stored.created, event: 'stored', text: 'pushed for the first time' });
  if (stored && stored.version > 1)
    events.push({
      at: stored.lastModified,
      event: 'stored',
      text: `last change stored (version ${stored.version})`,
    });
  if (deletedAt !== null) events.push({ at: deletedAt, event: 'stored', text: 'deleted at the source' });
  // A record that was pushed after the restore is not from the backup.
  if (restored && stored && stored.created < restored.at)
    events.push({
      at: restored.at,
      event: 'stored',
      text: `restored from ${restored.backup}: changes in between are not known`,
    });
  // The acceptance of the pending change is added below from the mark, so the log entries of this change do not add it.
  const accepted = new Set(mark ? [`${Date.parse(mark.since)} ${mark.request}`] : []);
  for (const entry of log) {
    // One change may have several log entries, each with its request id and time of acceptance. Its acceptance is shown once.
    const key = `${entry.accepted} ${entry.request}`;
    if (!accepted.has(key))
      events.push({ at: isoTime(entry.accepted), event: 'accepted', text: originOf(entry.request) });
    accepted.add(key);
    events.push({
      at: isoTime(entry.at),
      event: entry.status === 'success' ? 'applied' : 'noted',
      text: textOf(entry, kind),
    });
  }
  if (mark)
    events.push({
      at: mark.since,
      event: 'accepted',
      text: `${originOf(mark.request)}, not applied yet`,
    });
  if (lastReconcile)
    events.push({
      at: lastReconcile.at,
      event: 'compared',
      text: PARTIAL.has(lastReconcile.outcome)
        ? `a reconcile could not compare everything: ${lastReconcile.outcome}`
        : `everything compared: ${lastReconcile.outcome}`,
    });
  // Order of events with the same time: a change is stored, then accepted, then written.
  const order: Event['event'][] = ['stored', 'accepted', 'applied', 'noted', 'compared'];
  return events.sort(
    (left, right) =>
      Date.parse(left.at) - Date.parse(right.at) || order.indexOf(left.event) - order.indexOf(right.event),
  );
}

/** Outcomes of reconcile runs (directory/outbox/runs.ts) that did not compare everything. */
const PARTIAL: ReadonlySet<string> = new Set(['failed', 'unproven']);

/** Returns words for the cause of a sync: a push, a reconcile, an order or the bridge itself. */
function originOf(request: string): string {
  switch (initiatorTypeOf(request)) {
    case 'identityProvider':
      return `change accepted (${request})`;
    case 'reconcile':
      return `ordered by a reconcile (${request})`;
    case 'operator':
      return `ordered by an operator (${request})`;
    case 'system':
      return 'looked at by the bridge itself';
  }
}

/** Words for the action of a success. `none` needs no words: an attempt that wrote nothing has this action, and is no success. */
const WORDS: Record<LocatedEntry['action'], string> = {
  create: 'created',
  adopt: 'existing account or group taken over',
  update: 'updated',
  setAttribute: 'attribute written',
  activate: 'activated',
  deactivate: 'deactivated',
  delete: 'deleted',
  rename: 'renamed',
  addMembers: 'added to the group',
  removeMembers: 'taken out of the group',
  handOver: 'handed over',
  giveBack: 'given back',
  none: '',
};

/** Words for what happened to members, in the timeline of their group. */
const MEMBER_WORDS: Partial<typeof WORDS> = { addMembers: 'added', removeMembers: 'taken out' };

/** Returns a log entry in words: for a success the action and the names of its values, else the status and the message. */
function textOf(
  { action, status, name, ref, changes, members, message, attempt }: LocatedEntry,
  kind: Explanation['kind'],
): string {
  // A log entry about the members of a group is in the timelines of the group and of each of these members.
  const isGroupsEntry = ref.startsWith('Group:') && members !== undefined;
  const memberWord = isGroupsEntry && kind === 'Group' ? MEMBER_WORDS[action] : undefined;
  const what =
    memberWord === undefined
      ? WORDS[action] + (isGroupsEntry ? ` ${name}` : '')
      : `${counted(members?.length ?? 0, 'member')} ${memberWord}`;
  if (status !== 'success')
    return `${STATUS_WORDS[status]}${action === 'none' ? '' : ` (${action})`}: ${withoutGuardHolds(message ?? '')}`;
  // A created account has all its values, which are not listed.
  const names = action === 'create' ? [] : (changes ?? []).map(([each]) => each);
  const detail = names.length > 0 ? `: ${names.join(', ')}` : '';
  return `${what}${detail}${attempt > 1 ? ` (attempt ${attempt})` : ''}`;
}
