// Defines the command log, which prints the provisioning log as text, NDJSON or CSV.
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
import {
  type LocatedEntry,
  type LogFilter,
  type LogSource,
  othersNamed,
  readLog,
  removedEntriesTexts,
  verifyLogs,
} from '../ops/log/provisioning-log.ts';
import { COLUMNS, flatten, writtenValueText } from '../ops/log/provisioning-csv.ts';
import { STATUS_WORDS, toProvisioningRecord } from '../ops/log/provisioning-record.ts';
import { withoutGuardHolds } from '../reconcile/text/exception-words.ts';
import { counted } from '../support/counted.ts';
import { someOf } from '../support/sentence-parts.ts';
import { isoTime } from '../support/sources.ts';
import { readConfig, type Cli } from './cli.ts';
import { complainLostData } from './lost-data.ts';
import { withStore } from './store.ts';
import { requireLogged, UnknownResource } from './unknown-names.ts';
import { complain, say, sayRows } from './output.ts';
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
        printChecks(await verifyLogs(await withAllLogs(states)), flags, cli);
      });
    });
}

/** Returns the connections with their logs, those of former targets too. */
const withAllLogs = (states: DesiredState[]) =>
  Promise.all(
    states.map(async ({ connection, acts, allLogs }) => ({ connection, acts, outboxes: await allLogs() })),
  );

/** Prints the entries that the flags select; then notes about them and about entries that are not shown. */
async function show(states: DesiredState[], flags: Flags, config: Config): Promise<void> {
  const { connection = null, target = null } = flags;
  const sources = await withAllLogs(states);
  const searched = sources
    .filter((each) => each.connection === (connection ?? each.connection))
    .filter(({ outboxes }) => target === null || outboxes.has(target))
    .map((each) => each.connection);
  const { resource } = flags;
  const found =
    resource === undefined
      ? undefined
      : await findResources(
          toSearched(states.filter((state) => searched.includes(state.connection))),
          resource,
        );
  const unknown = found?.length === 0 ? new UnknownResource(resource ?? '', { config, ...flags }) : undefined;
  // A person who was forgotten is known by the ref only, under which the log still has entries.
  const forgottenRef = unknown && refIn(resource ?? '');
  if (unknown && !forgottenRef) throw unknown;
  const filter: LogFilter = {
    refs: forgottenRef ? [forgottenRef] : found?.map(({ ref }) => ref),
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
  const toLine = flags.json
    ? (entry: LocatedEntry): string => JSON.stringify(toProvisioningRecord(entry))
    : flags.csv
      ? csvWriter()
      : undefined;
  const nameMembers = createMemberNames(states);
  let count = 0;
  let hasMembers = false;
  let hasFormerValues = false;
  for await (const entry of readLog(sources, filter)) {
    // One entry beyond the limit shows that there is more.
    if (count++ >= limit) break;
    if (entry.members) hasMembers = true;
    if (entry.action !== 'create' && entry.changes) hasFormerValues = true;
    if (toLine) sayRows(toLine(entry));
    else say(toText(entry, await nameMembers(entry, MOST_MEMBERS)));
  }
  const others = found && (await othersText(sources, filter, { resource: resource ?? '', found }));
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

/** Prints the header line of the CSV. @returns the function that converts an entry to a line */
function csvWriter(): (entry: LocatedEntry) => string {
  sayRows(csvLine(COLUMNS));
  return (entry) => csvLine(flatten(toProvisioningRecord(entry)));
}

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

/** Explains the names of members: the log stores only their ids, so that a name can be forgotten. */
const PRESENT_NAMES =
  'Members have their present names, other names are of that time; an id stands for a lost name.';

/** Explains the values before a write: a push is written without a read, which would cost a call. */
const KNOWN_VALUES =
  'A value before a write is the last that the bridge wrote or read; later hand changes are not shown.';

/** Largest number of members that a line names. */
const MOST_MEMBERS = 5;
/** Largest number of written values in a line. Values that decide about access count too, but all of them are shown. */
const MOST_VALUES = 3;

/**
 * Returns an entry as one line of text, which ends with the id of the request that caused the change: `[…]`.
 * @param named names of the first members
 */
export function toText(
  { at, target, ref, name, action, status, changes, members, message, request, forgotten }: LocatedEntry,
  named: readonly string[] = [],
): string {
  const what = [action === 'none' ? '' : action, STATUS_WORDS[status]].filter(Boolean).join(' ');
  const detail = [
    ...valuesText(action, changes ?? []),
    ...(members ? [membersText(members.length, named)] : []),
    ...(message ? [status === 'held' ? withoutGuardHolds(message) : message] : []),
  ].join('; ');
  // The ref tells people apart whose names were removed.
  const shownName = forgotten ? `${name} ${ref}` : name;
  return `${isoTime(at)}  ${target}  ${shownName}  ${what}${detail ? `  ${detail}` : ''}  [${request}]`;
}

/** A written value: its name (`active`, or an attribute as `attributes.<name>`), the value before, the value after. */
type Change = NonNullable<LocatedEntry['changes']>[number];
const isAttribute = ([name]: Change): boolean => name.startsWith('attributes.');
const isActive = ([name]: Change): boolean => name === 'active';

/** Returns all written values that decide about access, then others up to MOST_VALUES, and the number of those left out. */
function valuesText(action: LogAction, changes: readonly Change[]): string[] {
  // Only attribute values of a create are listed: every account or group gets its core values, such as userName, and `active`
  // is a later write.
  const listed = action === 'create' ? changes.filter(isAttribute) : changes;
  const access = listed.filter((each) => isAttribute(each) || isActive(each));
  const others = listed.filter((each) => !access.includes(each));
  const shown = others.slice(0, Math.max(0, MOST_VALUES - access.length));
  const more = others.length - shown.length;
  return [
    ...[...access, ...shown].map(([name, before, after]) => writtenValueText(name, before, after)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function membersText(count: number, named: readonly string[]): string {
  return counted(count, 'member') + (named.length === 0 ? '' : `: ${someOf(named, { count })}`);
}
