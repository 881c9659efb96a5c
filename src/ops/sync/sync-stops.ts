// Tells why a sync writes nothing: nothing is written to the target at all (`stopText`), the resource is a dead letter
// (`withHold`), or the resource is left alone (`withLeftAlone`).
import { heldUntil, holderWords } from '../../directory/guard/operator-hold.ts';
import { conditionText } from '../../directory/outbox/condition-text.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { unrecognisedBy } from '../../directory/outbox/recognition.ts';
import { LEFT_OUT } from '../../reconcile/compare/membership-entries.ts';
import { isChange, type PlanEntry } from '../../reconcile/entry.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { movedText } from '../../reconcile/tenant/tenant.ts';
import type { Resource } from '../../scim/index.ts';
import { LISTED_AS_PROTECTED } from '../../sync/target.ts';
import type { FoundResource } from '../find.ts';
import type { SyncEnd } from './sync-outcome.ts';
import { isProtectedName } from '../../sync/user/protected-user.ts';

/** Returns why nothing is written to the target, and what ends that: a hold, a new address, or both; undefined: neither. */
export async function stopText({
  outbox,
  target,
}: Pick<ReconcileScope, 'outbox' | 'target'>): Promise<string | undefined> {
  const hold = await outbox.guardStore.onHold();
  const held = hold ? `on hold by ${holderWords(hold)}: ${heldUntil(target.name, hold)}` : undefined;
  // A hold because of another tenant has advice about the address already.
  if (unrecognisedBy(hold, await outbox.hasMoved()) !== 'address') return held;
  return [held, movedText(target.name)].filter(Boolean).join('; ');
}

/**
 * Returns the message of a dry run: why its differences would not be written, because the target is on hold or not recognised, or
 * the resource is a dead letter; otherwise why the resource is left alone, if it is.
 * @param differences null: nothing was compared, as at a target that is not recognised
 */
export async function withHold(
  scope: ReconcileScope,
  found: FoundResource,
  differences: PlanEntry[] | null,
): Promise<SyncEnd> {
  const stop = await stopText(scope);
  const differs = differences?.some(isChange) === true;
  const isUnread = differences === null && (await scope.outbox.whyUnrecognised()) !== undefined;
  if (stop !== undefined && (differs || isUnread)) return { message: stop };
  const { blockedSince } = await scope.outbox.resourceStatus(found.ref);
  const end = differs && blockedSince !== null ? { message: writtenByOrder(found) } : {};
  return withLeftAlone(scope, found, end);
}

/** Returns the orders and changes that write a dead letter (docs/dead-letters.md). A group is synced for its members too. */
const writtenByOrder = ({ kind }: FoundResource): string =>
  `a dead letter: only scim-bridge sync, scim-bridge dead-letters retry, scim-bridge resync or a new change${kind === 'User' ? '' : ' of it or of its members'} writes it`;

/** Replaces the message of a SyncEnd by the reason why the resource is left alone; without such a reason it stays. */
export async function withLeftAlone(
  scope: ReconcileScope,
  found: FoundResource,
  end: SyncEnd,
): Promise<SyncEnd> {
  const why = await leftAloneText(scope, found, await scope.links.get(scope.target.name, found.ref));
  return why === undefined ? end : { ...end, message: why };
}

/** Returns why a resource is left alone; undefined when it is meant for the target, deleted at the source, or damaged. */
async function leftAloneText(
  { target, directory, outbox }: ReconcileScope,
  { kind, id, name, record }: FoundResource,
  link: Link,
): Promise<string | undefined> {
  if (link.condition?.reason === 'Protected') return conditionText(link.condition, outbox.settings);
  if (!record || record.damaged) return undefined;
  if (kind === 'Group') {
    if (target.mapping.groupName(name) !== undefined) return undefined;
    return `${LEFT_OUT}${link.id === undefined ? '' : ', and the group at the platform stays as it is'}`;
  }
  const [joined = []] = await directory.groupsOf([id]);
  const { inScope, core } = await target.mapping.user(JSON.parse(record.text) as Resource, id, joined);
  if (!inScope) return `outside users.scope of the target ${target.name}`;
  const isListed = [name, String(core.userName)].some((each) => isProtectedName({ target }, each));
  return isListed ? LISTED_AS_PROTECTED : undefined;
}
