// Forgets the links of one resource, by an order of an operator.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import type { Actor } from '../../directory/logs/acts.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { counted } from '../../support/counted.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { linksOf, type LinkRow } from './link-rows.ts';

interface ForgetLinksOptions {
  connection: string;
  ref: Ref;
  /** Undefined: all targets. */
  target?: string | undefined;
  /** Forgets although a change that takes access away is not written. */
  leaveAccount?: boolean | undefined;
}

/** A link that is needed to take access away. `message`: why, and what to do. */
export class LinkNeeded extends Error {
  override name = 'LinkNeeded';
}

/** Returns what becomes of the account of a person who is not deleted at the source, after the order to leave it. */
export const adoptedAgainText = (target: string): string =>
  `The person is not deleted at the source: where adopt is exact, the next sync adopts the account again and takes the access away. To leave the account as it is, name the person in targets.${target}.users.protected and restart every process before the link is dropped.`;

/**
 * Deletes the links of one resource. The next sync looks it up again and adopts only by the rules of `adopt`.
 * @returns one row for each target at which a link was deleted
 * @throws LinkNeeded, before any link is deleted
 */
export async function forgetLinks(
  states: readonly DesiredState[],
  { connection, ref, target, leaveAccount = false }: ForgetLinksOptions,
  actor: Actor,
): Promise<LinkRow[]> {
  const found: {
    state: DesiredState;
    row: LinkRow;
    platformId: string;
    why: string | undefined;
    /** The stored resource may still have the account, so its link keeps the id (`mayExist`) for a sync after a deletion. */
    keepsId: boolean;
  }[] = [];
  const { kind, id } = parseRef(ref);
  for (const state of states.filter((each) => each.connection === connection)) {
    for (const row of await linksOf([state], connection, ref)) {
      if (target !== undefined && row.target !== target) continue;
      const platformId = row.platformId ?? (await idOfLeft(state, row, leaveAccount));
      if (platformId === undefined) continue;
      const why = await whyNeeded(state, row);
      const link = await state.links.get(row.target, ref);
      // The account is to be left, or is closed: a sync after a deletion at the source needs no id.
      const isLeft = why !== undefined || (kind === 'User' && link.departed === true && !mayBeActive(link));
      found.push({ state, row, platformId, why, keepsId: row.platformId !== null && !isLeft });
    }
  }
  const needed = found.find(({ why }) => why !== undefined);
  if (needed && !leaveAccount) {
    const { state, row, why = '' } = needed;
    const isPushed = (await state.directory.get(kind, id)) !== undefined;
    throw new LinkNeeded(
      `At ${row.target}: ${why}. Without its link nothing takes that away any more. ` +
        'Wait until it is written, or approve it (scim-bridge explain shows what it waits for).' +
        (isPushed ? ` ${adoptedAgainText(row.target)}` : ''),
    );
  }
  for (const { state, row, platformId, why, keepsId } of found) {
    const subject = `${ref} ${platformId || '(no known id)'}${why === undefined ? '' : ` left as it is: ${why}`}`;
    await state.acts.record({ act: 'forgetLink', ...actor, target: row.target, subject });
    await state.outboxes
      .get(row.target)
      ?.forgetLink(ref, platformId, { keepsId, leaves: leaveAccount && !keepsId });
  }
  return found.map(({ row }) => row);
}

/**
 * Returns the id of the account or group that a resource without platform id may have (`mayExist`, `tried`); '': the id is not
 * known. Undefined: none; or the resource is stored and the order does not leave the account, as a second order must not
 * drop the id that the first kept.
 */
async function idOfLeft(
  { directory, links }: DesiredState,
  { kind, ref, target }: LinkRow,
  leaveAccount: boolean,
): Promise<string | undefined> {
  const { mayExist, tried } = await links.get(target, ref);
  if (!(mayExist ?? tried) || (!leaveAccount && (await directory.get(kind, parseRef(ref).id))))
    return undefined;
  return mayExist?.id ?? '';
}

/** Returns why the link is needed: access that the bridge still has to remove at the platform; undefined: none. No full stop. */
async function whyNeeded(
  { directory, links, outboxes }: DesiredState,
  { ref, kind, target }: LinkRow,
): Promise<string | undefined> {
  const outbox = outboxes.get(target);
  if (!outbox) return undefined;
  const { id } = parseRef(ref);
  const [link, record, { pendingMemberships, unconfirmedRemovals }] = await Promise.all([
    links.get(target, ref),
    directory.get(kind, id),
    outbox.resourceStatus(ref),
  ]);
  if (kind === 'Group') {
    // A departed group stays at the platform by the policy. After its link is forgotten, another group may be linked to it.
    // Without a platform id, the link only keeps what is still to be looked for.
    return record || (link.departed && link.id !== undefined)
      ? undefined
      : 'The group was deleted at the source and its deletion is not written';
  }
  const [closing] = await outbox.guardStore.statesOf([{ kind: 'deactivate', ref }]);
  const isActive = record && (JSON.parse(record.text || '{}') as { active?: boolean }).active !== false;
  const isOut = link.departed === true && link.condition?.reason !== 'Protected';
  const isToBeClosed = !isActive || isOut || closing !== undefined;
  if (mayBeActive(link) && isToBeClosed) {
    if (!record) return 'The account may be active, although the person is deleted at the source';
    return isActive
      ? 'The account may be active, although the person is not meant for the target'
      : 'The account may be active, although the person is inactive at the source';
  }
  // `+` adds a membership; every other sign takes one away (pending membership in docs/glossary.md).
  const unwritten = [...pendingMemberships.values()].filter((sign) => sign !== MEMBERSHIP_SIGN.toAdd);
  const removals = unwritten.length + unconfirmedRemovals.length;
  return removals === 0
    ? undefined
    : `The person is still in ${counted(removals, 'group')} against the source`;
}
