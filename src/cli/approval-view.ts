// Formats an approval as text: `printApproval` prints counts, times and the limits that hold its changes, `printChanges` one line
// for each change.
import { judgedAnew } from '../directory/guard/operator-hold.ts';
import { DESTRUCTIVE_KINDS, SHARE_FLOOR, type DestructiveKind } from '../guard/judge.ts';
import { isUndecided, type Approval, type WaitingApproval } from '../ops/approvals/approvals-at.ts';
import { counted } from '../support/counted.ts';
import type { ExplainedLimit } from '../ops/approvals/approval-limits.ts';
import type { HeldChange } from '../ops/approvals/held-change.ts';
import { BLANK_LINE, say } from './output.ts';

const LABELS: Record<DestructiveKind, { one: string; many: string }> = {
  deactivate: { one: 'to deactivate', many: 'to deactivate' },
  delete: { one: 'to delete', many: 'to delete' },
  removeMembers: { one: 'to take out of groups', many: 'to take out of groups' },
  clearAttributes: { one: 'attribute value to empty', many: 'attribute values to empty' },
};
const countOf = (kind: DestructiveKind, count: number): string =>
  `${count} ${LABELS[kind][count === 1 ? 'one' : 'many']}`;

/**
 * Text after the number that the percentage of a limit refers to (`ExplainedLimit.population`). Unlike the totals of `status`, the
 * number includes what was deleted or removed in the window.
 */
const POPULATIONS: Record<DestructiveKind, string> = {
  deactivate: 'users, those deleted in this time included',
  delete: 'users and groups, those deleted in this time included',
  removeMembers: 'memberships, those removed in this time and those whose removal is held included',
  clearAttributes: 'users, those deleted in this time included',
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Prints an approval without its changes. */
export function printApproval(approval: Approval & { limits?: ExplainedLimit[] }): void {
  const { openedAt, expiresAt = '', leftMs = 0, endOfHold, selection, note } = approval;
  say(`Approval ${approval.id} (${approval.connection} → ${approval.target}), ${approval.state}`);
  say(`  ${approvalCounts(approval)}`);
  // An undecided approval has an expiry, a decided one has the time and the operator of the decision.
  if (isUndecided(approval)) say(`  opened ${openedAt}, ${expiryText(expiresAt, leftMs, endOfHold)}`);
  else say(`  ${approval.state} ${approval.at} by ${approval.by}`);
  const left = stillRejectedText(approval);
  if (left !== undefined) say(`  ${left}`);
  const unwritten = unwrittenText(approval);
  if (unwritten !== undefined) say(`  ${unwritten}`);
  if (selection !== undefined) say(`  ${selection}`);
  if (note !== undefined) say(`  note: ${note}`);
  for (const first of approval.firstApprovals ?? []) say(`  ${firstText(first)}`);
  for (const limit of approval.limits ?? []) printLimit(limit);
}

/** Returns the number of changes of each kind as text. */
export const approvalCounts = ({ kinds }: Pick<Approval, 'kinds'>): string =>
  DESTRUCTIVE_KINDS.filter((kind) => kinds[kind] > 0)
    .map((kind) => countOf(kind, kinds[kind]))
    .join(', ');

/**
 * Returns a text: when held changes expire or expired, the time that is left, and how the guard goes on then.
 * @param left as `leftMs` of an `Approval`
 * @param endOfHold how the hold of the target ends (`holdAdvice`); undefined: the target is not on hold
 */
export function expiryText(expiresAt: string, left: number, endOfHold: string | undefined): string {
  if (left <= 0) return `expired ${expiresAt}: it cannot be decided any more, ${judgedAnew(endOfHold)}`;
  return `expires ${expiresAt} (in ${leftText(left)}), then ${judgedAnew(endOfHold)}`;
}

/** Formats a time that is left, to the minute: `72 h`, `71 h 58 min`, `12 min`. */
function leftText(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes === 0) return 'less than 1 min';
  const parts = [
    [Math.floor(minutes / 60), 'h'],
    [minutes % 60, 'min'],
  ] as const;
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count} ${unit}`])).join(' ');
}

/** Returns how many approved changes are not written, and when the approval ends or ended; undefined: none, or not approved. */
export function unwrittenText({
  expiresAt,
  leftMs: left = 0,
  unwritten,
  total,
}: Approval): string | undefined {
  if (unwritten === undefined || expiresAt === undefined) return undefined;
  const share = `${unwritten} of ${total}`;
  return left > 0
    ? `not written yet: ${share}; the approval ends ${expiresAt} (in ${leftText(left)}), then the guard judges anew what is not written`
    : `not written before the approval ended ${expiresAt}: ${share}; the guard judges them anew, and scim-bridge approvals list shows what it holds`;
}

/** Returns how many changes of a rejection are still rejected; undefined for other approvals. */
export const stillRejectedText = ({ stillRejected, total }: Approval): string | undefined =>
  stillRejected === undefined ? undefined : `still rejected: ${stillRejected} of ${total}`;

/** Returns a first approval as text, with how a second person approves the same changes. */
export const firstText = ({ id, by, at, expiresAt, total, selection, note }: WaitingApproval): string =>
  [
    `1 of 2 approvals: ${by} approved ${counted(total, 'change')} at ${at}`,
    ...[selection, note && `note: ${note}`].filter(Boolean),
    `a second person approves ${id} before ${expiresAt}`,
  ].join('; ');

function printLimit({ kind, used, usedBy, usedSince, ...limit }: ExplainedLimit): void {
  const floor = limit.percent === 0 ? '' : `, at least ${SHARE_FLOOR}`;
  const share = `${limit.percent} % of ${limit.population} ${POPULATIONS[kind]}${floor}`;
  say(
    `  limit: at most ${countOf(kind, limit.allowance)} within ${windowText(limit.windowMs)} ` +
      `(count ${limit.count}; ${share}); ` +
      `${used} counted${usedSince === undefined ? '' : ` since ${usedSince}`}, ` +
      `${limit.waiting} accepted, ${limit.held} held; an approval of all starts the count anew`,
  );
  if (used + limit.waiting + limit.held <= limit.allowance)
    say(
      '    all of these fit the limit now: what is held still waits for a decision or the expiry, and further changes that fit are written' +
        (kind === 'delete' ? '; the deletion of a group is held with the removals of its members' : ''),
    );
  for (const { ref, name, member, at } of usedBy)
    say(`    counted ${at}: ${member === undefined ? name : `${member}, ${name}`} (${ref})`);
  if (used > usedBy.length) say(`    … and ${used - usedBy.length} more`);
  if (used > 0)
    say(
      '    counted: the guard allowed the write; scim-bridge log tells whether it succeeded, as far back as the log reaches',
    );
}

const windowText = (ms: number): string =>
  ms % HOUR_MS === 0 ? `${ms / HOUR_MS} h` : `${Math.round(ms / MINUTE_MS)} min`;

/**
 * Prints one page of changes, with a heading where the kind differs from that of the change before.
 * @param before kind of the last change of the previous page
 * @returns the kind of the last change
 */
export function printChanges(
  items: readonly HeldChange[],
  before?: DestructiveKind,
): DestructiveKind | undefined {
  let kind = before;
  for (const item of items) {
    if (item.kind !== kind) say(BLANK_LINE, `${LABELS[item.kind].many}:`);
    kind = item.kind;
    say(`  - ${lineOf(item)}${sinceText(item)}`);
  }
  return kind;
}

function lineOf({ kind, name, mail, member, ref, reason }: HeldChange): string {
  const address = mail === undefined || mail === name || mail === member ? '' : ` <${mail}>`;
  if (kind === 'removeMembers') return `${memberText(member)}${address} leaves ${name}: ${reason}`;
  if (kind === 'clearAttributes') return `${name}${address} loses ${member}: ${reason}`;
  return `${name}${address}  ${ref}: ${reason}`;
}

/** Returns the name of a member. An account that no identity provider pushed has the form `@<platform id>`. */
const memberText = (member: string | undefined): string =>
  member?.startsWith('@') ? `the account ${member.slice(1)}, which nobody pushed,` : (member ?? '');

/**
 * Returns since when the person or group has waited for decisions. No time is stored of a single change: another change of the same
 * person or group may have been held before it.
 */
const sinceText = ({ since, name }: HeldChange): string =>
  since === undefined ? '' : ` (${name} has waited for decisions since ${since})`;
