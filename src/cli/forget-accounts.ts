// Tells the operator of the command forget about the accounts of the person. An account that may be active, has pending changes or
// has work to be handed over keeps the person from being forgotten: `openText` tells why, and what to do. Of each account
// `stayText` tells what stays at the platform after the order.
import type { Config } from '../config/schema.ts';
import type { AccountState } from '../ops/person/forgettable-person.ts';
import type { LostHandover } from '../ops/person/lost-handover.ts';
import { unreadText, unrecognisedText } from '../reconcile/tenant/tenant.ts';
import { counted } from '../support/counted.ts';

/**
 * Returns why accounts keep a person from being forgotten, and what to do about them.
 * @param text how the operator named the person
 */
export function openText(accounts: readonly AccountState[], text: string, config: Config): string {
  const isAtRemoved = ({ connection, target }: AccountState): boolean =>
    !config.connections[connection]?.targets.includes(target);
  const reasons = accounts.map(
    (account) => `${accountText(account)} at ${account.target} ${whyOpen(account, isAtRemoved(account))}`,
  );
  return `${reasons.join(', ')}. ${openAdvice(accounts, text, accounts.some(isAtRemoved))}`;
}

/** Returns how an account is named. An account without id is known only by a create that got no answer, or is to be made. */
const accountText = ({ platformId }: Pick<AccountState, 'platformId'>): string =>
  platformId === null ? 'an account without a known id' : `account ${platformId}`;

/** Returns why an account keeps a person from being forgotten. @param isAtRemoved the settings do not have its target any more */
function whyOpen(
  { state, handover, platformId, target, unrecognised }: AccountState,
  isAtRemoved: boolean,
): string {
  if (state === 'active' && platformId === null)
    return 'may be there and active, because a create got no answer';
  if (state === 'active') return isAtRemoved ? 'may be active' : 'is active';
  if (state === 'pending') return 'has pending changes';
  // `unrecognisedText` is `unreadText` with advice. The advice cannot be followed for a target that is not in the settings any more.
  if (state === 'unread' && unrecognised)
    return `may be active, because ${(isAtRemoved ? unreadText : unrecognisedText)(target, unrecognised)}`;
  if (state === 'unread') return 'may be active, because the platform did not show its state';
  return handover?.state === 'planned'
    ? `has work that the first reconcile after ${handover.at} hands over`
    : 'has work of which only a part is handed over';
}

/**
 * Returns what to do about accounts that keep a person from being forgotten.
 * @param isRemoved some account is at a target that the settings no longer have, where nothing closes it
 */
function openAdvice(accounts: readonly AccountState[], text: string, isRemoved: boolean): string {
  if (isRemoved)
    return 'A target is no longer configured: put it back, so that the account is closed there (docs/removed-targets.md), or say --leave-account: then nothing closes it any more.';
  const unread = accounts.filter(({ state }) => state === 'unread');
  if (unread.length > 0) {
    const readable = unread.map(({ unrecognised }) =>
      unrecognised ? `the ${unrecognised} is recognised` : 'the target answers',
    );
    return `Give the order again when ${[...new Set(readable)].join(' and ')}, which scim-bridge doctor tells, or say --leave-account: then nothing closes the account any more.`;
  }
  // Every account is closed, so only its handover is awaited.
  if (accounts.every(({ state }) => state === 'closed' || state === 'gone'))
    return 'Wait until a reconcile has handed it over, or say --leave-account: then nothing hands it over any more, and it stays where it is.';
  return `scim-bridge explain ${text} tells what it waits for. Decide its approval or dead letter, or close it at the platform; an account that somebody opened there is closed by scim-bridge reconcile. Or say --leave-account: then nothing closes it or hands its work over any more.`;
}

/** Returns what stays at the platform: the account, its memberships, and its work that was or is to be handed over. */
export function stayText({ target, platformId, state, groups, handover }: AccountState): string[] {
  if (state === 'gone')
    return [`  account ${platformId ?? '?'} is no longer at ${target}`, ...workText(handover)];
  return [
    platformId === null && state === 'active'
      ? `  an account may stay at ${target}, active, because a create got no answer: look there by the names of the person, and delete it if it has to go`
      : `  account ${platformId ?? '?'} stays at ${target}, ${STAYS[state]}: delete it there if it has to go`,
    ...(groups.length > 0
      ? [
          `  it stays in ${groups.join(', ')} there, also when the person is hired again: an administrator of the platform removes it from there if it has to go`,
        ]
      : []),
    ...workText(handover),
  ];
}

const STAYS: Record<Exclude<AccountState['state'], 'gone'>, string> = {
  closed: 'deactivated',
  active: 'as it is, which may be active',
  pending: 'as it is',
  unread: 'as it is, which may be active',
};

function workText(handover: LostHandover | null): string[] {
  if (handover === null) return [];
  if (handover.state === 'planned')
    return ['  its work is not handed over any more: it stays where it is, owned by this account'];
  const where = `${counted(handover.items, 'item')} in the folder ${handover.folder ?? '?'}`;
  return handover.state === 'moved'
    ? [`  its work stays handed over (${where}): scim-bridge handover undo cannot take it back any more`]
    : [
        `  its work stays as it is, of which only a part is handed over (${where}): nothing moves the rest any more`,
      ];
}
