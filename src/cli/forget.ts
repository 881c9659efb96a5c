// Defines the command forget, which removes the stored data of a person who is no longer pushed. It checks first whether the person
// can be forgotten now, shows what stays at the platforms (forget-accounts.ts), asks, and removes the data. `toError` tells why
// nothing was removed.
import type { Command } from 'commander';
import type { Config } from '../config/schema.ts';
import type { Ref } from '../directory/records.ts';
import { createAccountLook } from '../ops/person/account-look.ts';
import { checkForget, forgetPerson, type ForgetOutcome, type ForgetReport } from '../ops/person/forget.ts';
import { counted } from '../support/counted.ts';
import { randomIds, systemClock } from '../support/sources.ts';
import { readConfig, type Cli } from './cli.ts';
import { confirm } from './confirm.ts';
import { openText, stayText } from './forget-accounts.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { say, sayJson } from './output.ts';
import { requireKnown } from './required-names.ts';
import { UnknownResource } from './unknown-resource.ts';
import { withScopes } from './scopes.ts';

/**
 * Longest wait for the list that proves that an account is gone, milliseconds: long, because a repeated order would read the whole
 * list again.
 */
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
      await withScopes(config, { mayWrite: true }, async ({ targets, states, operations, signal }) => {
        const options = {
          ...order,
          lookAt: createAccountLook(targets.values(), { listMs: LIST_MS, signal }),
        };
        const checked = await checkForget(states, text, options);
        if (checked.kind !== 'ready') throw toError(checked, text, { config, ...flags });
        await confirm(flags, `Remove all that is kept of ${text}, for good?`, {
          show: () => say(...checked.persons.flatMap(({ accounts }) => accounts.flatMap(stayText))),
          ended: signal,
        });
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
  if (outcome.kind === 'pushedAgain')
    return new Error(
      `${outcome.connection} pushed ${text} again during the order (${outcome.ref}), so the order is not complete. Delete the user at the identity provider, then give the order again.`,
    );
  return new Error(`Nothing was forgotten: ${openText(outcome.accounts, text, place.config)}`);
}

/** Returns the commands for persons who had the name before the pushed user; '' when there are none. */
const formerText = (former: readonly Ref[]): string =>
  former.length === 0
    ? ''
    : ` If you mean a person who had this name before: ${former.map((ref) => `scim-bridge forget ${ref}`).join(' or ')}.`;

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
