// Checks that nothing has changed since a handover was planned, and stores the start of the handover.
import type { HandedItem, HandoverHead } from '../../directory/outbox/handover-store.ts';
import { parseRef } from '../../directory/records.ts';
import type { Resource } from '../../scim/index.ts';
import type { HandoverPlace } from './handover-place.ts';
import type { HandoverOptions } from './handover-steps.ts';
import { DAY_MS, isClosed, numberOf, protectedNames, type PlannedHandover } from './plan-handover.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Checks again that the account is closed and unchanged, and stores the start of the handover.
 * @returns undefined if nothing may be moved
 */
export async function beginHandover(
  scope: ReconcileScope,
  place: HandoverPlace,
  person: PlannedHandover,
  options: HandoverOptions,
): Promise<{ head: HandoverHead; items: HandedItem[] } | undefined> {
  const { handovers, links, target, clock } = scope;
  const { ref } = person;
  const link = await links.get(target.name, ref);
  // The plan may be old: the account may have been activated, exchanged or protected since.
  if (!isClosed(link)) return undefined;
  // 0 is never used: nothing is handed over without the setting.
  const { afterDays = 0 } = target.policy.handover ?? {};
  if (link.closedAt + afterDays * DAY_MS > clock.now()) return undefined;
  if (protectedNames(target.policy.users.protected)(link) || (await isInDoubt(scope, ref))) return undefined;
  const account = await target.client.users.get(link.id, options);
  // The platform's own state decides: an active account, or one of another person, keeps its items.
  if (account.active !== false || (account.externalId ?? null) !== (link.core?.externalId ?? null))
    return undefined;
  // The plan has found the owner of the items by the userName in the link, which somebody may have changed at the platform.
  const search = (userName: string) => target.client.accounts.search(userName, options);
  if ((await numberOf(target.client, account, search, options.signal)) !== person.account) return undefined;
  const stored = await handovers.read(ref);
  const isOver = stored?.head.state === 'returned';
  // The items of this closing were given back already, for example by order of an operator.
  if (isOver && stored.head.closedAt === link.closedAt) return undefined;
  const { startedAt = clock.now(), folder, folderName } = stored?.head ?? {};
  const isSamePlace = stored?.head.deployment === place.deployment;
  const head: HandoverHead = {
    state: 'moving',
    name: person.name,
    platformId: link.id,
    account: person.account,
    closedAt: link.closedAt,
    startedAt,
    deployment: place.deployment,
    ...(folderName === undefined || !isSamePlace ? {} : { folderName }),
    ...(folder === undefined || !isSamePlace ? {} : { folder }),
  };
  // The items of an earlier closing were given back: they are forgotten.
  await handovers.note(ref, { head, anew: isOver });
  return { head, items: isOver ? [] : (stored?.items ?? []) };
}

/**
 * Returns whether a change of the person is pending, refused, held or rejected, or whether the person is or may be desired active.
 */
async function isInDoubt(
  { directory, outbox, target }: ReconcileScope,
  ref: PlannedHandover['ref'],
): Promise<boolean> {
  const { id } = parseRef(ref);
  const [status, record] = await Promise.all([outbox.resourceStatus(ref), directory.get('User', id)]);
  const isUnsynced = status.mark !== null || status.blockedSince !== null;
  if (isUnsynced) return true;
  if (status.guard.some(({ state }) => state !== 'approved')) return true;
  // The source deleted the person.
  if (!record) return false;
  // A record that cannot be read does not show that the person is to be inactive.
  if (record.damaged || !record.text) return true;
  const [groups = []] = await directory.groupsOf([id]);
  const desired = await target.mapping.user(JSON.parse(record.text) as Resource, id, groups);
  return desired.inScope && desired.active;
}
