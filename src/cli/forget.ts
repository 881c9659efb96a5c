// Defines the command forget, which removes the stored data of a person who is no longer pushed.
import type { Command } from 'commander';
import type { Config } from '../config/schema.ts';
import type { Ref } from '../directory/records.ts';
import { createAccountLook } from '../ops/person/account-look.ts';
import { checkForget, forgetPerson, type ForgetOutcome, type ForgetReport } from '../ops/person/forget.ts';
import type { LostHandover } from '../ops/person/lost-handover.ts';
import type { AccountState } from '../ops/person/forgettable-person.ts';
import { unreadText, unrecognisedText } from '../reconcile/tenant/tenant.ts';
import { counted } from '../support/counted.ts';
import { randomIds, systemClock } from '../support/sources.ts';
import { readConfig, type Cli } from './cli.ts';
import { confirm } from './confirm.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { say, sayJson } from './output.ts';
import { requireKnown, UnknownResource } from './unknown-names.ts';
import { withScopes } from './scopes.ts';

/** Longest wait for the list that proves that an account is gone. A repeated order would read the whole list again. */
const LIST_MS = 600_000;

interface Flags extends OperatorFlags {
  connection?: string;
  /** Forget the person although an account may be active, or its work is to be handed over. */
  leaveAccount?: boolean;
  /** Refs of pushed users who have a name of the person and are somebody else. */
  otherPeople?: Ref[];
  yes?: boolean;
  json?: boolean;
}

export function forgetCommand(program: Command, cli: Cli): void {
  withOperator(program.command('forget <person>'))
    .description(
      'remove what is kept of a person who was deleted at the identity provider, and keep a record of it; exit 4 when nothing is kept',
    )
    .option('--connection <name>', 'only in this connection')
    .option(
      '--leave-account',
      'also while an account may be active or its work is to be handed over: it stays as it is, and nothing closes it or moves its work any more',
    )
    .option(
      '--other-people <refs...>',
      'pushed users who have a name of the person now and are somebody else, such as User:3f…',
    )
    .option('--yes', 'do not ask; needed without a terminal')
    .option('--json', 'print as JSON')
    .action(async (text: string, flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      requireKnown(config, flags);
      const order = {
        connection: flags.connection,
        leaveAccounts: flags.leaveAccount ?? false,
        otherPeople: flags.otherPeople ?? [],
        handoverRules: (target: string) => config.targets[target],
        actor: actorOf(cli, flags),
      };
      await withScopes(config, {}, async ({ targets, states, operations, signal }) => {
        const options = {
          ...order,
          lookAt: createAccountLook(targets.values(), { listMs: LIST_MS, signal }),
        };
        const checked = await checkForget(states, text, options);
        if (checked.kind !== 'ready') throw toError(checked, text, { config, ...flags });
        await confirm(flags, `Remove all that is kept of ${text}, for good?`, () =>
          say(...checked.persons.flatMap(({ accounts }) => accounts.flatMap(stayText))),
        );
        const deps = { clock: systemClock, ids: randomIds, operations };
        const outcome = await forgetPerson(deps, states, text, options);
        if (outcome.kind !== 'forgotten') throw toError(outcome, text, { config, ...flags });
        if (flags.json) sayJson(outcome.reports);
        else for (const report of outcome.reports) say(...linesOf(report));
      });
    });
}

function toError(
  outcome: Exclude<ForgetOutcome, { kind: 'forgotten' }>,
  text: string,
  place: { config: Config; connection?: string },
): Error {
  if (outcome.kind === 'unknown') return new UnknownResource(text, { ...place, isPerson: true });
  if (outcome.kind === 'pushed')
    return new Error(
      `${text} is still pushed by ${outcome.connection} (${outcome.ref}): nothing was forgotten. Delete the user at the identity provider first; a user who is only deactivated there is still pushed.${formerText(outcome.former)}`,
    );
  if (outcome.kind === 'unclear') {
    const refs = outcome.refs.join(' ');
    return new Error(
      `Nothing was forgotten: ${outcome.connection} pushes ${outcome.refs.join(' and ')} with a name of ${text}, and it is not known whether this is the same person. If it is, delete the user at the identity provider first. If it is somebody else, give the order again with --other-people ${refs}.`,
    );
  }
  if (outcome.kind === 'busy')
    return new Error(
      `A sync of ${text} runs in ${outcome.connection}: the running service completes the order within ten minutes. To complete it sooner, give it again.`,
    );
  const isAtRemoved = ({ connection, target }: AccountState): boolean =>
    !place.config.connections[connection]?.targets.includes(target);
  const accounts = outcome.accounts.map(
    (account) => `${accountText(account)} at ${account.target} ${openText(account, isAtRemoved(account))}`,
  );
  const advice = openAdvice(outcome.accounts, text, outcome.accounts.some(isAtRemoved));
  return new Error(`Nothing was forgotten: ${accounts.join(', ')}. ${advice}`);
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

/** Returns the commands for persons who had the name before the pushed user; '' when there are none. */
const formerText = (former: readonly Ref[]): string =>
  former.length === 0
    ? ''
    : ` If you mean a person who had this name before: ${former.map((ref) => `scim-bridge forget ${ref}`).join(' or ')}.`;

/** Returns how an account is named. An account without id is known only by a create that got no answer, or is to be made. */
const accountText = ({ platformId }: Pick<AccountState, 'platformId'>): string =>
  platformId === null ? 'an account without a known id' : `account ${platformId}`;

/** Returns why an account keeps a person from being forgotten. @param isAtRemoved the settings do not have its target any more */
function openText(
  { state, handover, platformId, target, unrecognised }: AccountState,
  isAtRemoved: boolean,
): string {
  if (state === 'active' && platformId === null)
    return 'may be there and active, because a create got no answer';
  if (state === 'active') return isAtRemoved ? 'may be active' : 'is active';
  if (state === 'pending') return 'has pending changes';
  // Only connections that feed the target get advice.
  if (state === 'unread' && unrecognised)
    return `may be active, because ${(isAtRemoved ? unreadText : unrecognisedText)(target, unrecognised)}`;
  if (state === 'unread') return 'may be active, because the platform did not show its state';
  return handover?.state === 'planned'
    ? `has work that the first reconcile after ${handover.at} hands over`
    : 'has work of which only a part is handed over';
}

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

const STAYS: Record<Exclude<AccountState['state'], 'gone'>, string> = {
  closed: 'deactivated',
  active: 'as it is, which may be active',
  pending: 'as it is',
  unread: 'as it is, which may be active',
};

function stayText({ target, platformId, state, groups, handover }: AccountState): string[] {
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

function linesOf({ connection, refs, removed, accounts }: ForgetReport): string[] {
  const parts = [
    counted(removed.tombstones, 'tombstone'),
    counted(removed.links, 'link'),
    counted(removed.heldChanges, 'held change'),
    counted(removed.deadLetters, 'dead letter'),
    `personal data of ${counted(removed.logEntries, 'log entry', 'log entries')} and ${counted(removed.acts, 'act')}`,
    counted(removed.events, 'event'),
    counted(removed.mentions, 'note'),
  ];
  return [
    `${connection}: forgotten ${refs.join(' ')}`.trimEnd(),
    `  removed: ${parts.join(', ')}`,
    ...accounts.flatMap(stayText),
    '  Backups that were made before still hold the person: see docs/privacy.md.',
  ];
}
