// Defines the command restore, which puts a backup back while no process of the service runs. It checks the whole file, asks which
// inbound tokens are valid afterwards and whether stored data is removed, stores the backup, and prints what it did. Every target
// is on hold then, until an operator has looked at the plan.
import { Option, type Command } from 'commander';
import type { Config } from '../config/schema.ts';
import { NAME_PATTERN } from '../config/schema/node.ts';
import { checkBackup, type CheckedBackup, type TokenInBackup } from '../ops/backup/backup-file.ts';
import type { RestoreReport } from '../ops/backup/put-back.ts';
import { restore } from '../ops/backup/restore.ts';
import { counted } from '../support/counted.ts';
import { systemClock } from '../support/sources.ts';
import { readConfig, type Cli } from './cli.ts';
import { ask, confirm } from './confirm.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { complain, say, sayJson } from './output.ts';
import { withInput } from './private-file.ts';
import { createProgressLine } from './progress.ts';
import { withStore } from './store.ts';

interface RestoreFlags extends OperatorFlags {
  replace?: boolean;
  /** Which inbound tokens are valid afterwards: those stored now, or those of the file. */
  tokens?: 'keep' | 'take';
  acceptForgeable?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function restoreCommand(program: Command, cli: Cli): void {
  withOperator(program.command('restore <file>'))
    .description(
      'put a backup back while no process of the service runs (- is standard input); nothing is written to any platform until scim-bridge release',
    )
    .option('--replace', 'remove what is stored first')
    .addOption(
      new Option(
        '--tokens <which>',
        'inbound tokens: keep those stored now, or take those of the file in their place (default: ask; keep without a terminal)',
      ).choices(['keep', 'take']),
    )
    .option(
      '--accept-forgeable',
      'take a file whose HMAC is missing or wrong although backup.key is set: somebody may have written it',
    )
    .option('--yes', 'do not ask whether to remove what is stored; needed for --replace without a terminal')
    .option('--json', 'print as JSON')
    .action((file: string, flags: RestoreFlags, command: Command) =>
      restoreFrom(file, flags, readConfig(command, cli), cli),
    );
}

function restoreFrom(file: string, flags: RestoreFlags, config: Config, cli: Cli): Promise<void> {
  return withInput(file, async (input) => {
    const checked = await checkBackup(input, config.backup.key);
    const canAsk = file !== '-' && process.stdin.isTTY && !flags.json;
    if (checked.tokens.length > 0) complain(...tokenLines(checked));
    const tokens = flags.tokens ?? (canAsk ? await chosenTokens(checked.tokens) : 'keep');
    // Without a terminal, with --json, and where standard input is the backup itself, nothing can be asked: `confirm` then
    // requires --yes, as it does with `json`.
    if (flags.replace)
      await confirm(
        { yes: flags.yes ?? false, json: !canAsk },
        'Remove everything that is stored and put the backup there?',
      );
    const progress = createProgressLine('restore');
    const { reconcile } = config;
    const report = await withStore(
      config,
      async (
        states,
        { readFleet, dataVersion, withdrawRestore, knownTargets, restoreLease, formerState },
      ) => {
        const former = formerConnections(checked, config).map(formerState);
        return restore([...states, ...former], input, checked, {
          replace: flags.replace ?? false,
          tokens,
          acceptUnproven: flags.acceptForgeable ?? false,
          // A scheduled reconcile that repairs compares the users who were synced; without such a schedule the restore marks them.
          leaveToReconcile: reconcile.schedule !== null && reconcile.onDrift === 'repair',
          clock: systemClock,
          readFleet,
          dataVersion,
          withdrawRestore,
          knownTargets,
          restoreLease,
          actor: actorOf(cli, flags),
          onItems: (done, total) => progress.show({ phase: 'items', done, total }),
          onWait: (running) =>
            complain(`Waiting up to 15 s: ${running} may run, or was killed a moment ago.`),
        });
      },
      { forRestore: true },
    ).finally(progress.end);
    if (flags.json) sayJson(report);
    else say(...outcomeOf(report));
  });
}

function tokenLines({ tokens, header, proof }: CheckedBackup): string[] {
  return [
    `The backup of ${header.createdAt} holds ${counted(tokens.length, 'inbound token')}:`,
    ...tokens.map(
      ({ connection, name, createdBy, createdAt, expiresAt }) =>
        `  ${name} opens ${connection}, made ${createdAt} by ${createdBy}, ${expiresAt === null ? 'never expires' : `expires ${expiresAt}`}`,
    ),
    ...(proof === 'valid'
      ? []
      : ['Nothing proves that these tokens were in the backup when it was written.']),
  ];
}

/** Asks whether the tokens of the backup become valid; without tokens there is no question. */
async function chosenTokens(tokens: readonly TokenInBackup[]): Promise<'keep' | 'take'> {
  if (tokens.length === 0) return 'keep';
  const answer = await ask(
    'Whoever has one of them can push everybody of its connection. Type take to let them in, anything else leaves them out: ',
  );
  return answer === 'take' ? 'take' : 'keep';
}

/**
 * Returns the connections of a backup that had left the settings before it was made (it lists them without targets), and that the
 * present settings do not have either.
 */
const formerConnections = ({ header }: CheckedBackup, { connections }: Config): string[] =>
  Object.entries(header.connections).flatMap(([name, targets]) => {
    const isFormer = targets.length === 0 && !Object.hasOwn(connections, name);
    // A forged backup may have a connection name that leads to other keys of the bridge, so only well-formed names are taken.
    return isFormer && new RegExp(NAME_PATTERN).test(name) ? [name] : [];
  });

/** Returns the report in sentences: what was stored, what was left out, what was removed, and what to do. */
function outcomeOf(report: RestoreReport): string[] {
  const { createdAt, counts, dropped, forgottenSince, formerHolds } = report;
  const { users = 0, groups = 0, links = 0 } = counts;
  return [
    `Restored from ${createdAt}: ${counted(users, 'user')}, ${counted(groups, 'group')}, ${counted(links, 'link')}.`,
    ...(dropped > 0
      ? [`${dropped} were left out: they changed while the backup was taken, or belong to what it lacks.`]
      : []),
    ...outcomeOfTokens(report),
    ...(forgottenSince.length > 0
      ? [
          `Forgotten since the backup was made, and stored as deleted at the identity provider: ${forgottenSince.join(' ')}. After the release give the order scim-bridge forget again for each, because links and logs of the backup name them.`,
        ]
      : []),
    ...removedLines(report),
    ...formerHolds.map(
      ({ connection, target, text }) =>
        `${connection} → ${target} was on hold before: ${text}. The note of the new hold says so, and scim-bridge release ends both.`,
    ),
    'Every target is on hold. Look at scim-bridge plan, then scim-bridge release.',
  ];
}

/** Returns which inbound tokens of the file are valid now: all of them, or only those that were stored already. */
function outcomeOfTokens({ tokens }: RestoreReport): string[] {
  const namesOf = (found: readonly TokenInBackup[]): string =>
    found.map(({ connection, name }) => `${name} (${connection})`).join(', ');
  const names = namesOf(tokens.ofFile);
  if (tokens.taken) return names === '' ? [] : [`Inbound tokens of the file are valid now: ${names}.`];
  const leftOut = namesOf(tokens.leftOut);
  const stored = namesOf(tokens.ofFile.filter((each) => !tokens.leftOut.includes(each)));
  return [
    ...(stored === ''
      ? []
      : [`Inbound tokens of the file that were stored already stay as they are: ${stored}.`]),
    ...(leftOut === ''
      ? []
      : [
          `Inbound tokens of the file were left out: ${leftOut}. Make new ones, or restore with --tokens take.`,
        ]),
  ];
}

/** Returns what was removed with the stored data and still waited for a receiver or a person. */
function removedLines({ removed }: RestoreReport): string[] {
  const { events, firstApprovals } = removed;
  return [
    ...(events > 0
      ? [
          `${counted(events, 'security event')} that no receiver has taken ${events === 1 ? 'was' : 'were'} removed with the stored data: the receiver has to read all users and groups anew.`,
        ]
      : []),
    ...(firstApprovals > 0
      ? [
          `${counted(firstApprovals, 'first approval')} that waited for a second person ${firstApprovals === 1 ? 'was' : 'were'} removed with the stored data: see scim-bridge approvals list.`,
        ]
      : []),
  ];
}
