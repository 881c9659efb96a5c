// Refuses accounts and groups that another connection of the same target is linked to: they are never adopted. They are not changed
// either, except that an account that neither source wants open is closed.
import { BUT_NOT_ON_HOLD } from '../../directory/guard/operator-hold.ts';
import type { Holder, Links } from '../../directory/outbox/links.ts';
import { isBySettingsOfThen, type Condition } from '../../directory/outbox/link-condition.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { fold, isInactive, parseRef, type Kind, type Ref } from '../../directory/records.ts';
import { mayBeActive } from '../user/account-state.ts';
import { condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import type { Unfinished } from '../outcome.ts';
import type { Core } from '../mapping/mapping.ts';

/** Part of the message about an account or group that two connections are linked to. ops/advice.ts recognises the message by it. */
export const LINKED_TWICE = 'too: order scim-bridge links forget';

/** Interval of attempts while another connection is saving its link. */
const BUSY_MS = 1000;

/**
 * Returns an outcome when another connection is linked to one of the ids; undefined otherwise.
 * @param core desired values of the person of this connection
 */
export async function takenElsewhere(
  context: SyncContext,
  kind: Kind,
  platformIds: string[],
  core?: Core,
): Promise<Unfinished | undefined> {
  for (const id of platformIds) {
    const holder = await context.links.elsewhere.holderOf(context.target.name, kind, id);
    if (holder) return { kind: 'blocked', condition: takenBy(context, id, kind, holder, core) };
  }
  return undefined;
}

/**
 * Returns an outcome when another connection is linked to the account or group of this link too, as after the restore of one
 * connection from an old backup; undefined otherwise. Until an operator decides which connection keeps it, neither connection
 * writes to it; but an account that no source wants open is closed once.
 */
export async function linkedTwice(context: SyncContext): Promise<Unfinished | undefined> {
  const { link, links, target, work } = context;
  if (link.id === undefined) return undefined;
  const holder = await links.elsewhere.holderOf(target.name, work.kind, link.id);
  if (!holder) return undefined;
  const { record, deletedAt } = work;
  const isInactiveHere = record ? isInactive(record) : deletedAt !== undefined;
  if (work.kind === 'User' && isInactiveHere && holder.shouldBeClosed && mayBeActive(link)) return undefined;
  const what = work.kind === 'User' ? 'account' : 'group';
  const message =
    `the ${what} belongs to ${holder.name} (${holder.ref}) of connection ${holder.connection} ${LINKED_TWICE}` +
    ` ${holder.ref} --target ${target.name}, or scim-bridge links forget ${work.ref} --target ${target.name}, of the one that is not to have it, then retry`;
  const taken = condition(context, 'TakenByConnection', message);
  return { kind: 'blocked', condition: { ...taken, takenId: link.id } };
}

/**
 * Reserves the platform id for this connection for a short time, right before its link is saved.
 * @param isNew whether the account or group was just created
 * @returns an outcome when the link must not be saved
 */
export async function claim(
  context: SyncContext,
  platformId: string,
  { isNew, core }: { isNew: boolean; core?: Core },
): Promise<Unfinished | undefined> {
  const { links, target, work } = context;
  const { kind } = work;
  const claimed = await links.elsewhere.claim(target.name, work.ref, { kind, platformId, isNew });
  if (claimed === 'claimed') return undefined;
  if (claimed === 'busy') return { kind: 'later', afterMs: BUSY_MS };
  return { kind: 'blocked', condition: takenBy(context, platformId, kind, claimed, core) };
}

const takenBy = (
  context: SyncContext,
  takenId: string,
  kind: Kind,
  holder: Holder,
  core: Core = {},
): Condition => {
  const hasAccount = context.link.id !== undefined;
  const text = takenText(kind, holder, { target: context.target.name, core, hasAccount });
  return { ...condition(context, 'TakenByConnection', text), takenId };
};

interface GivenUpScope {
  links: Pick<Links, 'elsewhere'>;
  outbox: Pick<Outbox, 'settings' | 'target'>;
}

/**
 * Returns whether no other connection is linked any more to the account or group that a condition is about (`takenId`). False after
 * the connections of the target in the settings have changed: an account of a connection that left the settings is taken over only
 * by an order. False also while links of another connection may be lost.
 */
export async function isGivenUp(
  scope: GivenUpScope,
  ref: Ref,
  condition: Condition | undefined,
): Promise<boolean> {
  return (await givenUpAmong(scope, [ref], [condition])).length > 0;
}

/**
 * Returns the resources for which `isGivenUp` returns true. It asks once for all of them whether links may be lost.
 * @param conditions in the order of `refs`
 */
export async function givenUpAmong(
  { links: { elsewhere }, outbox: { settings, target } }: GivenUpScope,
  refs: readonly Ref[],
  conditions: readonly (Condition | undefined)[],
): Promise<Ref[]> {
  const areFree = await Promise.all(
    refs.map(async (ref, index) => {
      const condition = conditions[index];
      if (condition?.takenId === undefined || isBySettingsOfThen(condition, settings)) return false;
      return (await elsewhere.holderOf(target, parseRef(ref).kind, condition.takenId)) === undefined;
    }),
  );
  const free = refs.filter((_, index) => areFree[index]);
  return free.length === 0 || (await elsewhere.mayLackLinks(target)) ? [] : free;
}

/** Returns the message of a dead letter for which `isGivenUp` returns true. */
export const givenUpText = (ref: Ref): string =>
  `the ${ref.startsWith('User:') ? 'account' : 'group'} was that of another connection, which is not linked to it any more: ` +
  `the next reconcile that repairs, or scim-bridge sync ${ref}, tries it again${BUT_NOT_ON_HOLD}`;

/** The person of this connection, and the target. `hasAccount`: the person has an own account, and needs only the userName. */
interface Refused {
  target: string;
  core: Core;
  hasAccount?: boolean;
}

/** Returns why an account or group of another connection is not adopted, and what an operator does. */
export function takenText(kind: Kind, holder: Holder, { target, core, hasAccount = false }: Refused): string {
  const { connection, name, ref } = holder;
  // Without `--target`, the command would also forget the links at the other targets.
  const forget = `order scim-bridge links forget ${ref} --target ${target}`;
  const belongs = `belongs to ${name} (${ref}) of connection ${connection}`;
  if (kind === 'Group')
    return `the group ${belongs}: rename one of the two; or delete the group there (if the policy of the target leaves it, also ${forget}), then retry`;
  const externalId = core.externalId ? String(core.externalId) : undefined;
  const isSame = externalId !== undefined && externalId === holder.externalId;
  const hasOther = externalId !== undefined && holder.externalId !== undefined && !isSame;
  /** The names that both people have. */
  const sharedNames = [
    ...(isSame && fold(name) !== fold(String(core.userName)) ? [] : ['userName']),
    ...(isSame ? ['externalId'] : []),
  ].join(' and ');
  let freed = '';
  // An account whose externalId differs from that of this person is not adopted, even if no connection is linked to it any more.
  if (hasOther)
    freed = ', clear the externalId of the closed account at the platform or delete that account there';
  // This person only needs the userName, which a closed account keeps until it is deleted.
  if (hasAccount) freed = ', delete the closed account at the platform';
  return (
    `the account ${belongs} and has the same ${sharedNames}${isSame ? ` ${externalId}` : ''}: ` +
    `if they are two people, correct the ${sharedNames} of one of them at its identity provider; ` +
    `if they are one, delete the person there (a deactivated person keeps the account), wait until the account is closed, ${forget}${freed}, then retry`
  );
}

/** Returns the externalId that a text of `takenText` names; undefined: the text names none. */
export const externalIdIn = (text: string): string | undefined =>
  / has the same (?:userName and )?externalId (?<id>.+?): if they are two people/.exec(text)?.groups?.id;
