// Forgets the links of one resource, in one or several connections, by an order of an operator.
import type { Actor } from '../../directory/logs/acts.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Link } from '../../directory/outbox/link.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { isInactive, parseRef, type Ref, type StoredRecord } from '../../directory/records.ts';
import { counted } from '../../support/counted.ts';
import { leaving } from '../../sync/group/members.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import type { FoundResource } from '../find.ts';
import { presentRow, type LinkRow } from './link-rows.ts';

interface ForgetLinksOptions {
  /** The resource, once for each connection that has it under its ref. */
  resources: readonly Pick<FoundResource, 'connection' | 'ref'>[];
  /** Undefined: all targets. */
  target?: string | undefined;
  /** Forgets a link also if a change that takes access away is not written yet. */
  leaveAccount?: boolean | undefined;
}

/** Thrown when a link is needed to take access away at the platform. `message`: why it is needed, and what to do. */
export class LinkNeeded extends Error {
  override name = 'LinkNeeded';
}

/** Returns the warning for an order to leave the account of a person whom the source still has. */
export const adoptedAgainText = (target: string): string =>
  `The person is not deleted at the source: where adopt is exact, the next sync adopts the account again and takes the access away. To leave the account as it is, name the person in targets.${target}.users.protected and restart every process before the link is dropped.`;

/** A link that an order forgets. */
interface Forgettable {
  acts: DesiredState['acts'];
  outbox: Outbox;
  row: LinkRow;
  /** Id of the account or group; '': not known. */
  platformId: string;
  /** Why the link is needed: access that the bridge still has to remove. No full stop. Undefined: the link is not needed. */
  why: string | undefined;
  /** Whether the link keeps the platform id as `mayExist`: a sync after a deletion at the source has to find the account by it. */
  keepsId: boolean;
  /** Whether the source has the resource. */
  isPushed: boolean;
}

/**
 * Deletes the links of one resource. The next sync looks for its account or group again, and links it only as `adopt` allows.
 * @returns one row for each connection and target at which a link was deleted
 * @throws LinkNeeded, before any link is deleted
 */
export async function forgetLinks(
  states: readonly DesiredState[],
  { resources, target, leaveAccount = false }: ForgetLinksOptions,
  actor: Actor,
): Promise<LinkRow[]> {
  const found: Forgettable[] = [];
  for (const { connection, ref } of resources)
    for (const state of states.filter((each) => each.connection === connection))
      found.push(...(await findLinks(state, ref, { target, leaveAccount })));
  const needed = found.find(({ why }) => why !== undefined);
  if (needed && !leaveAccount) throw neededError(needed, resources.length > 1);
  for (const { acts, outbox, row, platformId, why, keepsId } of found) {
    const { ref } = row;
    const subject = `${ref} ${platformId || '(no known id)'}${why === undefined ? '' : ` left as it is: ${why}`}`;
    await acts.record({ act: 'forgetLink', ...actor, target: row.target, subject });
    await outbox.forgetLink(ref, platformId, {
      keepsId,
      leaves: leaveAccount && !keepsId,
      request: `links:${actor.by}`,
    });
  }
  return found.map(({ row }) => row);
}

/** Returns the links of a resource in one connection, each with what forgetting it means. */
async function findLinks(
  state: DesiredState,
  ref: Ref,
  { target, leaveAccount }: Omit<ForgetLinksOptions, 'resources'>,
): Promise<Forgettable[]> {
  const { acts, connection } = state;
  const { kind, id } = parseRef(ref);
  const found: Forgettable[] = [];
  for (const [name, outbox] of state.outboxes) {
    if (name !== (target ?? name)) continue;
    // Read for each target, because the source may delete the resource meanwhile.
    const [link, record] = await Promise.all([state.links.get(name, ref), state.directory.get(kind, id)]);
    // A first order may have kept the id of a stored resource (`keepsId`). Only an order that leaves the account drops it.
    const platformId = link.id ?? (record && !leaveAccount ? undefined : idOfLeft(link));
    if (platformId === undefined) continue;
    const why =
      kind === 'Group' ? whyGroupNeeded(record, link) : await whyUserNeeded(outbox, ref, record, link);
    // An account that is to be left as it is, or is closed already, needs no sync after a deletion at the source, so no id is kept.
    const isLeft = why !== undefined || (kind === 'User' && link.departed === true && !mayBeActive(link));
    const row = await presentRow(connection, outbox, ref, link);
    const keepsId = link.id !== undefined && !isLeft;
    found.push({ acts, outbox, row, platformId, why, keepsId, isPushed: record !== undefined });
  }
  return found;
}

const neededError = ({ row, why = '', isPushed }: Forgettable, isOfSeveral: boolean): LinkNeeded =>
  new LinkNeeded(
    `At ${row.target}${isOfSeveral ? ` (connection ${row.connection})` : ''}: ${why}. Without its link nothing takes that away any more. ` +
      'Wait until it is written, or approve it (scim-bridge explain shows what it waits for).' +
      (isPushed ? ` ${adoptedAgainText(row.target)}` : ''),
  );

/** Returns the id of the account or group that may exist, of a link without platform id; '': not known; undefined: none may. */
const idOfLeft = ({ mayExist, tried }: Link): string | undefined =>
  mayExist || tried ? (mayExist?.id ?? '') : undefined;

/**
 * Returns why the link of a group is needed. A departed group stays at the platform by the policy: after its link is forgotten,
 * another group may be linked to it. A link without a platform id is needed to find a group that may exist.
 */
const whyGroupNeeded = (record: StoredRecord | undefined, { id, departed }: Link): string | undefined =>
  record || (departed && id !== undefined)
    ? undefined
    : 'The group was deleted at the source and its deletion is not written';

/** Returns why the link of a person is needed: the account has to be closed, or has to leave groups. */
async function whyUserNeeded(
  { guardStore, resourceStatus }: Outbox,
  ref: Ref,
  record: StoredRecord | undefined,
  link: Link,
): Promise<string | undefined> {
  const [[closing], { pendingMemberships, unconfirmedRemovals }] = await Promise.all([
    guardStore.statesOf([{ kind: 'deactivate', ref }]),
    resourceStatus(ref),
  ]);
  const whyClosed = whyToBeClosed(record, link, closing !== undefined);
  if (mayBeActive(link) && whyClosed !== undefined)
    return `The account may be active, although the person is ${whyClosed}`;
  const removals = leaving(pendingMemberships).length + unconfirmedRemovals.length;
  return removals === 0
    ? undefined
    : `The person is still in ${counted(removals, 'group')} against the source`;
}

/** Returns why an account has to be closed, as the end of a sentence about the person; undefined: it has not. */
function whyToBeClosed(
  record: StoredRecord | undefined,
  { condition, departed }: Link,
  isClosing: boolean,
): string | undefined {
  if (!record) return 'deleted at the source';
  if (isInactive(record)) return 'inactive at the source';
  const isOut = departed === true && condition?.reason !== 'Protected';
  return isOut || isClosing ? 'not meant for the target' : undefined;
}
