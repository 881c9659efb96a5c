// Finds facts that the command approvals prints beside the changes of an approval.
// For an order to approve (approval-decision.ts), before it is carried out: the last administrators whose deactivation it approves,
// and the groups whose deletion it approves. Afterwards `heldAgainText` warns about each of these administrators, and `isSomeHeld`
// tells whether one of these groups still waits for removals of its members. For the list (approvals.ts): whether changes were held
// under former settings, and which changes have expired.
import type { TargetConfig } from '../config/schema/target.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { isHeldByFormerSettings } from '../directory/outbox/condition-text.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import { readExpired } from '../ops/approvals/approval-ids.ts';
import { previewDecision } from '../ops/approvals/approvals.ts';
import { isUndecided, type Approval } from '../ops/approvals/approvals-at.ts';
import type { ChangeSelection } from '../ops/approvals/approval-selection.ts';
import { listExceptions } from '../ops/approvals/exceptions.ts';

/** Number of changes that are printed before a question. */
export const SHOWN_CHANGES = 20;
/** Largest number of changes that one read returns. */
export const MOST_CHANGES = 1000;

/** Returns the names of the last administrators whose deactivation an order approves; of many, the first SHOWN_CHANGES. */
export async function lastAdministrators(
  states: readonly DesiredState[],
  approval: Approval,
  settingsOf: (target: string) => TargetConfig | undefined,
  selection: ChangeSelection,
): Promise<string[]> {
  const { connection, target, id } = approval;
  const cause = 'lastAdministrator';
  // Usual cases first: the order excludes last administrators, or none of their deactivations is held.
  if (selection.causes?.includes(cause) === false) return [];
  const filter = { connection, target, reason: 'LastAdministrator', limit: 1 } as const;
  if ((await listExceptions(states, filter)).length === 0) return [];
  const only = { ...selection, causes: [cause] as const };
  const found = await previewDecision(states, id, settingsOf, 'approve', only, SHOWN_CHANGES);
  return found?.items.map(({ name }) => name) ?? [];
}

/** Returns the groups whose deletion an order approves, among the first `MOST_CHANGES` deletions of the order. */
export async function groupsToDelete(
  states: readonly DesiredState[],
  approval: Approval,
  settingsOf: (target: string) => TargetConfig | undefined,
  selection: ChangeSelection,
): Promise<Ref[]> {
  if (approval.kinds.delete === 0 || selection.kinds?.includes('delete') === false) return [];
  const only = { ...selection, kinds: ['delete'] as const };
  const found = await previewDecision(states, approval.id, settingsOf, 'approve', only, MOST_CHANGES);
  return found?.items.map(({ ref }) => ref).filter((ref) => parseRef(ref).kind === 'Group') ?? [];
}

/**
 * Returns whether the guard still holds a change of one of these groups, whose deletion was approved. Such a change is the removal
 * of a member: a group is deleted only after the removals of all its members are approved.
 */
export async function isSomeHeld(
  states: readonly DesiredState[],
  { connection, target }: Approval,
  groups: readonly Ref[],
): Promise<boolean> {
  const outbox = states.find((state) => state.connection === connection)?.outboxes.get(target);
  const found = outbox ? await Promise.all(groups.map((ref) => outbox.exceptionOf(ref))) : [];
  return found.some((exception) => exception?.reason === 'Held');
}

export const heldAgainText = (name: string): string =>
  `The account of ${name} is closed only if another active administrator is left at the platform: else the guard holds it again at once, see scim-bridge explain ${name}.`;

/**
 * Returns whether the guard held one of the first `MOST_CHANGES` changes of an undecided approval under former settings of the
 * target; false for a decided approval.
 */
export async function isSomeByFormerSettings(
  states: readonly DesiredState[],
  approval: Approval,
  settingsOf: (target: string) => TargetConfig | undefined,
): Promise<boolean> {
  if (!isUndecided(approval)) return false;
  const found = await previewDecision(states, approval.id, settingsOf, 'approve', {}, MOST_CHANGES);
  return found?.items.some(({ reason }) => isHeldByFormerSettings(reason)) ?? false;
}

/** Returns a sentence for each connection and target with expired changes that no approval of `shown` counts. */
export async function formerExpired(
  states: readonly DesiredState[],
  shown: readonly Approval[],
): Promise<string[]> {
  const sentences: string[] = [];
  for (const { connection, outboxes } of states)
    for (const [target, { guardStore }] of outboxes) {
      const isShown = (each: Approval): boolean =>
        each.connection === connection && each.target === target && each.state === 'expired';
      const expired = await readExpired(target, guardStore, shown.find(isShown)?.total);
      if (expired !== null) sentences.push(`${connection} → ${target}: ${expired}.`);
    }
  return sentences;
}
