// Defines the command links. A link connects a user or group with its account or group at a target. `list` and `show` print links,
// `export` and `import` move them through a file (link-file.ts), `forget` drops those of one resource, and `keep` lets the accounts
// and groups of a removed target stay.
import { Option, type Command } from 'commander';
import { findRemoved, keepRemoved, notRemovedText, stillFedText } from '../ops/links/removed-targets.ts';
import { toSearched } from '../ops/find.ts';
import {
  type LinkRow,
  type LinkSources,
  listLinks,
  removedFeeds,
  showLinks,
} from '../ops/links/link-rows.ts';
import { adoptedAgainText, forgetLinks, LinkNeeded } from '../ops/links/links.ts';
import { readConfig, type Cli } from './cli.ts';
import { confirm } from './confirm.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { exportTo, importFrom, type ImportFlags } from './link-file.ts';
import { requireKnown } from './required-names.ts';
import { findMeant, UnknownResource } from './unknown-resource.ts';
import { withStore } from './store.ts';
import { say, sayJson, sayLines } from './output.ts';
import { counted } from '../support/counted.ts';

interface Flags extends OperatorFlags {
  connection?: string;
  target?: string;
  kind?: 'User' | 'Group';
  json?: boolean;
  leaveAccount?: boolean;
}

type KeepFlags = OperatorFlags & Required<Pick<Flags, 'connection' | 'target'>> & { yes?: boolean };

export function linksCommand(program: Command, cli: Cli): void {
  const group = program.command('links').description('who is which account or group at the platform');
  const filtered = (command: Command): Command =>
    command
      .option('--connection <name>', 'only this connection')
      .option('--target <name>', 'only this target')
      .addOption(new Option('--kind <kind>', 'only these').choices(['User', 'Group']));

  filtered(group.command('list').description('all of them'))
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      await onLinks(flags, command, cli, async (sources) => {
        const rows: LinkRow[] = [];
        let count = 0;
        for await (const row of listLinks(sources, flags)) {
          count++;
          if (flags.json) rows.push(row);
          else say(line(row));
        }
        if (flags.json) sayJson(rows);
        else if (count === 0) say('Nothing is linked.');
      });
    });

  group
    .command('show <user|group>')
    .description('of one person or group, at every target')
    .option('--json', 'print as JSON')
    .action(async (text: string, flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      await withStore(config, async (states, store) => {
        const rows = await showLinks({ states, ...store }, text);
        if (!rows) throw new UnknownResource(text, { config });
        if (flags.json) sayJson(rows);
        else for (const row of rows) say(line(row));
      });
    });

  filtered(
    group.command('export [file]').description('NDJSON, one link a line; to standard output without a file'),
  ).action(async (file: string | undefined, flags: Flags, command: Command) => {
    const count = await onLinks(flags, command, cli, (sources) => exportTo(sources, flags, file));
    if (file !== undefined)
      say(`${counted(count, 'link')} exported. To import: scim-bridge links import ${file}`);
  });

  withOperator(group.command('import <file>'))
    .description('take links from an export, each checked at the platform; exit 1 if some could not be taken')
    .option('--dry-run', 'only say what would happen')
    .option('--json', 'print as JSON')
    .action((file: string, flags: ImportFlags, command: Command) => importFrom(file, flags, command, cli));

  withOperator(group.command('forget <user|group>'))
    .description(
      'drop the link: the account or group is looked for anew, and taken over by the rules of adopt',
    )
    .option('--connection <name>', 'only in this connection')
    .option('--target <name>', 'only at this target')
    .option(
      '--leave-account',
      'also while access is to be taken away there: it stays until the account or group is adopted again',
    )
    .option('--json', 'print as JSON')
    .action((text: string, flags: Flags, command: Command) => forget(text, flags, command, cli));

  withOperator(group.command('keep'))
    .description(
      'let the accounts and groups of a target stay after the target was taken out of the settings',
    )
    .requiredOption('--connection <name>', 'the connection that has fed it')
    .requiredOption('--target <name>', 'the target')
    .option('--yes', 'do not ask')
    .action((flags: KeepFlags, command: Command) => keep(flags, command, cli));
}

/**
 * Runs `use` with the stores of the links.
 * @throws Error for a connection or target of the flags that neither the settings nor the removed targets have
 */
async function onLinks<T>(
  flags: Flags,
  command: Command,
  cli: Cli,
  use: (sources: LinkSources) => Promise<T>,
): Promise<T> {
  const config = readConfig(command, cli);
  return withStore(config, async (states, store) => {
    const sources = { states, ...store };
    // A target that has left the settings may still have links.
    if ((await removedFeeds(sources, flags)).length === 0) requireKnown(config, flags);
    return use(sources);
  });
}

function line(row: LinkRow): string {
  const { ref, kind, name, connection, target, platformId } = row;
  const { account, origin, active, departed, removed, condition } = row;
  return [
    `${ref}  ${name ?? '–'}  ${connection} → ${target}  ${platformId ?? (condition === 'LinkDamaged' ? 'account unknown' : 'not linked')}`,
    account === null ? '' : `account ${account}`,
    origin ?? '',
    removed ? 'target removed from the settings' : '',
    removed && kind === 'User' && (platformId !== null || condition === 'LinkDamaged')
      ? `account ${active === false ? 'closed' : 'may be active'}`
      : '',
    // `departed` is also set for a protected account, because its memberships are not written; such a person has not left.
    departed && condition !== 'Protected' ? 'left' : '',
    condition ?? '',
  ]
    .filter(Boolean)
    .join('  ');
}

/**
 * Forgets the links of the resource that `text` names, and prints them.
 * @throws UnknownResource; Error if several resources match, or a link is still needed to take access away
 */
async function forget(text: string, flags: Flags, command: Command, cli: Cli): Promise<void> {
  const config = readConfig(command, cli);
  requireKnown(config, flags);
  await withStore(config, async (states) => {
    const { connection, target, leaveAccount = false } = flags;
    const searched = toSearched(states).filter((each) => each.connection === (connection ?? each.connection));
    const found = await findMeant(searched, text, { config, connection });
    const isPushed = found.some(({ record }) => record !== undefined);
    const order = { resources: found, target, leaveAccount };
    const rows = await forgetLinks(states, order, actorOf(cli, flags)).catch((error: unknown) => {
      if (!(error instanceof LinkNeeded)) throw error;
      const options = Object.entries({ connection, target }).flatMap(([name, value]) =>
        value === undefined ? [] : [` --${name} ${value}`],
      );
      const ofOne = found.length > 1 ? '; with --connection NAME only the links of one connection' : '';
      throw new Error(
        `${error.message} ${isPushed ? 'Then' : 'To leave the account or group as it is'}: scim-bridge links forget ${text}${options.join('')} --leave-account${ofOne}`,
      );
    });
    if (flags.json) sayJson(rows);
    else
      sayLines(
        rows.length === 0
          ? ['Nothing is linked.']
          : rows.flatMap((row) => [
              `Forgotten: ${line(row)}`,
              ...(leaveAccount && isPushed && row.kind === 'User'
                ? [`  ${adoptedAgainText(row.target)}`]
                : []),
            ]),
      );
    if (rows.length === 0) cli.exit(1);
  });
}

async function keep(flags: KeepFlags, command: Command, cli: Cli): Promise<void> {
  const { connection, target } = flags;
  await withStore(readConfig(command, cli), async (states, { knownTargets, fed }) => {
    const found = await findRemoved(knownTargets, fed, flags);
    if (!found) throw new Error(notRemovedText(flags));
    const refusal = stillFedText(found);
    if (refusal !== undefined) throw new Error(refusal);
    const what = `${counted(found.accounts, 'account')} and ${counted(found.groups, 'group')}`;
    if (!found.isKept) await confirm(flags, `${what} of ${connection} stay at ${target} as they are.`);
    await keepRemoved(states, knownTargets, found, actorOf(cli, flags));
    say(
      `Kept${found.isKept ? ' already' : ''}: ${what} of ${connection} at ${target}. Leavers keep their access there until somebody ends it.`,
    );
  });
}
