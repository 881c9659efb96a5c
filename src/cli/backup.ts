// Defines the commands backup and restore.
import { Option, type Command } from 'commander';
import type { Config } from '../config/schema.ts';
import { NAME_PATTERN } from '../config/schema/node.ts';
import { backup, type BackupReport } from '../ops/backup/backup.ts';
import { checkBackup, type CheckedBackup, type TokenInBackup } from '../ops/backup/backup-file.ts';
import type { RestoreReport } from '../ops/backup/put-back.ts';
import { restore } from '../ops/backup/restore.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { complain, say, sayJson } from './output.ts';
import { withInput, writePrivately } from './private-file.ts';
import { createProgressLine } from './progress.ts';
import { ask, confirm } from './confirm.ts';
import { withStore } from './store.ts';
import { counted } from '../support/counted.ts';

interface BackupFlags {
  overwrite?: boolean;
  json?: boolean;
}

interface RestoreFlags extends OperatorFlags {
  replace?: boolean;
  /** Which inbound tokens are valid afterwards: those stored now, or those of the file. */
  tokens?: 'keep' | 'take';
  acceptForgeable?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Number of damaged items that a backup names. */
const SHOWN_DAMAGED = 20;

export function backupCommand(program: Command, cli: Cli): void {
  program
    .command('backup <file>')
    .description(
      'write everything that Redis keeps to a new file with checksums (- is standard output), while the service runs',
    )
    .option('--overwrite', 'put it in the place of a file that has the name')
    .option('--json', 'print as JSON')
    .action(async (file: string, flags: BackupFlags, command: Command) => {
      const config = readConfig(command, cli);
      const report =
        file === '-'
          ? await writeBackup(config, toStandardOutput)
          : await writePrivately(file, { overwrite: flags.overwrite ?? false }, (out) =>
              writeBackup(config, async (text) => void (await out.write(text))),
            );
      for (const key of report.leftOut)
        complain(
          `Left out: ${key}. This version does not know such a key; another version may have left it.`,
        );
      for (const each of report.damaged.slice(0, SHOWN_DAMAGED)) complain(damagedText(each));
      if (report.damaged.length > SHOWN_DAMAGED)
        complain(`… and ${report.damaged.length - SHOWN_DAMAGED} more damaged items: --json lists them.`);
      // Standard output holds the backup itself.
      const print = file === '-' ? complain : say;
      if (flags.json) print(JSON.stringify({ file, ...report }));
      else print(...linesOf(file, report));
      // The file is whole without them, and a person has to mend them before the next one.
      cli.exit(report.damaged.length > 0 ? 2 : 0);
    });
}

/** Returns what a backup has left out as damaged, what a restore then lacks, and what to do. */
function damagedText({ connection, key, item = '' }: BackupReport['damaged'][number]): string {
  const text = `Left out: ${connection}: ${`${key} ${item}`.trim()}. It is damaged, and a restore would refuse the file.`;
  return key === 'users' || key === 'groups'
    ? `${text} Push this ${key === 'users' ? 'user' : 'group'} again at the identity provider as a whole, then make another backup: a restore of this one leaves the ${key === 'users' ? 'account' : 'group'} as it is, but brings no memberships back.`
    : `${text} See scim-bridge doctor --deep; scim-bridge doctor --repair mends links. Then make another backup.`;
}

function linesOf(file: string, { counts, sha256, signed }: BackupReport): string[] {
  const { users = 0, groups = 0, links = 0, tokens = 0 } = counts;
  return [
    `${file}: ${counted(users, 'user')}, ${counted(groups, 'group')}, ${counted(links, 'link')}, ${counted(tokens, 'inbound token')}. SHA-256 ${sha256}`,
    'It holds personal data and digests of tokens: keep it as you keep Redis.',
    ...(signed
      ? []
      : ['It has no HMAC: with backup.key in the settings, restore would notice a forged file.']),
  ];
}

/** Writes to standard output, and waits while its reader is slower. */
async function toStandardOutput(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise((resolve) => process.stdout.once('drain', resolve));
}

async function writeBackup(config: Config, write: (text: string) => Promise<void>): Promise<BackupReport> {
  const progress = createProgressLine('backup');
  // `fed`: the pairs of connection and target in the settings. `knownTargets.former`: those that the settings have no more.
  return withStore(config, async (states, { knownTargets, fed, formerState }) => {
    const withFormerTargets = (await knownTargets.former(fed)).map(({ connection }) => connection);
    // Former connections too: their links show which accounts may still be open.
    const former = [...new Set(withFormerTargets)].filter((name) => !Object.hasOwn(config.connections, name));
    return backup([...states, ...former.map(formerState)], write, {
      createdAt: Date.now(),
      key: config.backup.key,
      kept: await knownTargets.kept(fed),
      onItems: (done, total) => progress.show({ phase: 'items', done, total }),
    });
  }).finally(progress.end);
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
    .action((file: string, flags: RestoreFlags, command: Command) => {
      const config = readConfig(command, cli);
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
          async (states, { readFleet, dataVersion, knownTargets, restoreLease, formerState }) => {
            const former = formerConnections(checked, config).map(formerState);
            return restore([...states, ...former], input, checked, {
              replace: flags.replace ?? false,
              tokens,
              acceptUnproven: flags.acceptForgeable ?? false,
              // A scheduled reconcile that repairs compares the users who were synced; without one the restore marks them.
              leaveToReconcile: reconcile.schedule !== null && reconcile.onDrift === 'repair',
              readFleet,
              dataVersion,
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
    });
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

function outcomeOf({
  createdAt,
  counts,
  dropped,
  forgottenSince,
  formerHolds,
  removed,
  tokens,
}: RestoreReport): string[] {
  const { users = 0, groups = 0, links = 0 } = counts;
  const namesOf = (found: readonly TokenInBackup[]): string =>
    found.map(({ connection, name }) => `${name} (${connection})`).join(', ');
  const names = namesOf(tokens.ofFile);
  const leftOut = namesOf(tokens.leftOut);
  const stored = namesOf(tokens.ofFile.filter((each) => !tokens.leftOut.includes(each)));
  return [
    `Restored from ${createdAt}: ${counted(users, 'user')}, ${counted(groups, 'group')}, ${counted(links, 'link')}.`,
    ...(dropped > 0
      ? [`${dropped} were left out: they changed while the backup was taken, or belong to what it lacks.`]
      : []),
    ...(names !== '' && tokens.taken ? [`Inbound tokens of the file are valid now: ${names}.`] : []),
    ...(stored !== '' && !tokens.taken
      ? [`Inbound tokens of the file that were stored already stay as they are: ${stored}.`]
      : []),
    ...(leftOut !== '' && !tokens.taken
      ? [
          `Inbound tokens of the file were left out: ${leftOut}. Make new ones, or restore with --tokens take.`,
        ]
      : []),
    ...(forgottenSince.length > 0
      ? [
          `Forgotten since the backup was made, and stored as deleted at the identity provider: ${forgottenSince.join(' ')}. After the release give the order scim-bridge forget again for each, because links and logs of the backup name them.`,
        ]
      : []),
    ...(removed.events > 0
      ? [
          `${counted(removed.events, 'security event')} that no receiver has taken ${removed.events === 1 ? 'was' : 'were'} removed with the stored data: the receiver has to read all users and groups anew.`,
        ]
      : []),
    ...(removed.firstApprovals > 0
      ? [
          `${counted(removed.firstApprovals, 'first approval')} that waited for a second person ${removed.firstApprovals === 1 ? 'was' : 'were'} removed with the stored data: see scim-bridge approvals list.`,
        ]
      : []),
    ...formerHolds.map(
      ({ connection, target, text }) =>
        `${connection} → ${target} was on hold before: ${text}. The note of the new hold says so, and scim-bridge release ends both.`,
    ),
    'Every target is on hold. Look at scim-bridge plan, then scim-bridge release.',
  ];
}
