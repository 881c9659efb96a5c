// Defines the command log, which prints the provisioning log as text (log-text.ts), NDJSON or CSV. `show` finds the resource that
// the operator named, prints the entries that the flags select, and then adds notes: how to read them, and which entries it did
// not show.
import { Option, type Command } from 'commander';
import { csvLine } from '../support/csv-line.ts';
import { createMemberNames } from '../ops/log/member-names.ts';
import { findResources, refIn, toSearched, type FoundResource } from '../ops/find.ts';
import {
  LOG_ACTIONS,
  LOG_STATUSES,
  type LogAction,
  type LogStatus,
} from '../directory/logs/provisioning-log.ts';
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Ref } from '../directory/records.ts';
import {
  type LocatedEntry,
  type LogFilter,
  type LogSource,
  othersNamed,
  readLog,
  removedEntriesTexts,
  verifyLogs,
} from '../ops/log/provisioning-log.ts';
import { COLUMNS, flatten } from '../ops/log/provisioning-csv.ts';
import { toProvisioningRecord } from '../ops/log/provisioning-record.ts';
import { someOf } from '../support/sentence-parts.ts';
import { readConfig, type Cli } from './cli.ts';
import { complainLostData } from './lost-data.ts';
import { withStore } from './store.ts';
import { requireLogged } from './required-names.ts';
import { UnknownResource } from './unknown-resource.ts';
import { complain, say, sayRows } from './output.ts';
import { logLineText, MOST_MEMBERS } from './log-text.ts';
import { DEFAULT_LINES, printChecks, withLogOptions, type LogFlags } from './log-options.ts';

/** The word that the text of the log has for the status `failure`. */
const SHOWN_FAILURE = 'refused';

interface Flags extends LogFlags {
  resource?: string;
  action?: LogAction[];
  status?: (LogStatus | typeof SHOWN_FAILURE)[];
  csv?: boolean;
}

export function logCommand(program: Command, cli: Cli): void {
  const command = program
    .command('log')
    .description('the provisioning log: every change at the platform, refusal, hold and skip; newest first')
    .option('--resource <name>', 'only this person or group, as for scim-bridge explain')
    .addOption(new Option('--action <actions...>', 'only these').choices([...LOG_ACTIONS]))
    .addOption(
      new Option(
        '--status <statuses...>',
        'only these: failure or refused (the same), retry (tried again), held, skipped (left alone), success',
      ).choices([...LOG_STATUSES, SHOWN_FAILURE]),
    );
  withLogOptions(command)
    .addOption(new Option('--csv', 'CSV with a header').conflicts('json'))
    .action(async (flags: Flags, self: Command) => {
      const config = readConfig(self, cli);
      await withStore(config, async (states, { readFleet }) => {
        await complainLostData(readFleet);
        await requireLogged(config, flags, states);
        if (!flags.verify) return show(states, flags, config);
        printChecks(await verifyLogs(states), flags, cli);
      });
    });
}

/** Returns the connections with their logs, those of former targets too. */
const withAllLogs = (states: DesiredState[]) =>
  Promise.all(states.map(async ({ connection, allLogs }) => ({ connection, outboxes: await allLogs() })));

/** Prints the entries that the flags select; then notes about them and about entries that are not shown. */
async function show(states: DesiredState[], flags: Flags, config: Config): Promise<void> {
  const sources = await withAllLogs(states);
  const selected = await selectResource(states, sources, flags, config);
  const filter: LogFilter = {
    refs: selected.refs,
    actions: flags.action,
    statuses: flags.status?.map((status) => (status === SHOWN_FAILURE ? 'failure' : status)),
    connection: flags.connection,
    target: flags.target,
    since: flags.since,
    until: flags.until,
    before: flags.before,
  };
  const isExport = flags.json === true || flags.csv === true;
  const limit = flags.limit ?? (isExport ? Infinity : DEFAULT_LINES);
  const { count, hasMembers, hasFormerValues } = await printEntries(states, readLog(sources, filter), {
    limit,
    toRow: rowFormatOf(flags),
  });
  const { found, unknown } = selected;
  const others = found && (await othersText(sources, filter, { resource: flags.resource ?? '', found }));
  if (others) complain(others);
  if (hasMembers && !isExport) complain(PRESENT_NAMES);
  if (hasFormerValues && !isExport) complain(KNOWN_VALUES);
  if (count === 0 && unknown) throw unknown;
  if (count === 0 && !isExport) say('Nothing in the log matches.');
  if (count > limit && !isExport) complain(`There is more: --limit, --until or --json.`);
  // An entry that the operator looks for may be among the removed ones.
  if (count <= limit && !isExport)
    for (const text of await removedEntriesTexts(sources, filter)) complain(text);
}

/** The resource that --resource names; without the option every field is undefined. */
interface SelectedResource {
  /** The stored resources with this name. */
  found?: readonly FoundResource[] | undefined;
  /** Only entries about these refs are printed. */
  refs?: Ref[] | undefined;
  /** Set if no stored resource has the name; thrown when the log has no entry about `refs` either. */
  unknown?: UnknownResource | undefined;
}

/** @throws UnknownResource for a name that no resource has, if it is no ref */
async function selectResource(
  states: DesiredState[],
  sources: readonly LogSource[],
  flags: Flags,
  config: Config,
): Promise<SelectedResource> {
  const { resource, connection = null, target = null } = flags;
  if (resource === undefined) return {};
  const searched = sources
    .filter((each) => each.connection === (connection ?? each.connection))
    .filter(({ outboxes }) => target === null || outboxes.has(target))
    .map((each) => each.connection);
  const found = await findResources(
    toSearched(states.filter((state) => searched.includes(state.connection))),
    resource,
  );
  if (found.length > 0) return { found, refs: found.map(({ ref }) => ref) };
  const unknown = new UnknownResource(resource, { config, ...flags });
  // A person who was forgotten is known by the ref only, under which the log still has entries.
  const forgottenRef = refIn(resource);
  if (!forgottenRef) throw unknown;
  return { found, refs: [forgottenRef], unknown };
}

/** Converts an entry to a line of an export. */
type ToRow = (entry: LocatedEntry) => string;

/** Returns the format of an export, after the header of a CSV was printed; undefined: entries are printed as text. */
function rowFormatOf({ json, csv }: Flags): ToRow | undefined {
  if (json) return (entry) => JSON.stringify(toProvisioningRecord(entry));
  if (!csv) return undefined;
  sayRows(csvLine(COLUMNS));
  return (entry) => csvLine(flatten(toProvisioningRecord(entry)));
}

/**
 * Prints entries up to the limit.
 * @returns `count`: number of printed entries, or one more than the limit if there are more. `hasMembers`, `hasFormerValues`:
 * whether printed entries have members, or values before a write
 */
async function printEntries(
  states: DesiredState[],
  entries: AsyncIterable<LocatedEntry>,
  { limit, toRow }: { limit: number; toRow: ToRow | undefined },
): Promise<{ count: number; hasMembers: boolean; hasFormerValues: boolean }> {
  const nameMembers = createMemberNames(states);
  let count = 0;
  let hasMembers = false;
  let hasFormerValues = false;
  for await (const entry of entries) {
    // One entry beyond the limit shows that there is more.
    if (count++ >= limit) break;
    if (entry.members) hasMembers = true;
    if (entry.action !== 'create' && entry.changes) hasFormerValues = true;
    if (toRow) sayRows(toRow(entry));
    else say(logLineText(entry, await nameMembers(entry, MOST_MEMBERS)));
  }
  return { count, hasMembers, hasFormerValues };
}

/** Explains the names of members: the log stores only their ids, so that a name can be forgotten. */
const PRESENT_NAMES =
  'Members have their present names, other names are of that time; an id stands for a lost name.';

/** Explains the values before a write: a push is written without a read, which would cost a call. */
const KNOWN_VALUES =
  'A value before a write is the last that the bridge wrote or read; later hand changes are not shown.';

/** Returns how to read the entries of other records with the same name; undefined: there are none, or an id or ref was given. */
async function othersText(
  sources: readonly LogSource[],
  filter: LogFilter,
  { resource, found }: { resource: string; found: readonly FoundResource[] },
): Promise<string | undefined> {
  const text = resource.trim();
  if (refIn(text) || found.some(({ id }) => id === text)) return undefined;
  const refs = await othersNamed(sources, filter, [text, ...found.map(({ name }) => name)]);
  const [first] = refs;
  if (first === undefined) return undefined;
  return `The log also has entries of other records with this name, such as a deleted one (${someOf(refs)}): scim-bridge log --resource ${first} shows those of ${first}.`;
}
