// Prints the result of the demo: desired and actual state user by user, number of calls, timings (`showOutcome`), and with --keep
// the addresses of the processes (`showAddresses`).
import Table from 'cli-table3';
import type { Idp } from './company.ts';
import type { CompanyComparison, ComparedPerson, Side } from './comparison.ts';
import { isRecordedWrite, type RecordedCall } from './platform.ts';
import type { Screen } from './screen.ts';
import type { DemoProcesses } from './processes.ts';
import type { StoryResult } from './story.ts';
import { inMs, percentile } from './timing.ts';

const COLUMNS = ['country', 'clearance', 'contractor', 'budgets', 'regions', 'groups', 'state'];
const COMPANIES = { okta: 'acme, through Okta', entra: 'nordwind, through Entra' };
/** Names of the lines of cli-table3; all but `middle`, the space between columns, are left empty. */
const LINES =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid';
const NO_LINES = Object.fromEntries(LINES.split(' ').map((name) => [name, '']));

/** Prints the summary. @returns whether every expectation holds */
export function showOutcome(
  screen: Screen,
  result: StoryResult,
  comparison: CompanyComparison,
  calls: RecordedCall[],
): boolean {
  const { rows, strayGroups, strayUsers, equal } = comparison;
  const same = rows.filter((row) => row.equal);
  screen.heading('Outcome: first line is the desired state, second line is the state of the platform');
  screen.line();
  showRows(screen, rows);
  if (!equal) {
    screen.heading('These differ');
    screen.line();
    showRows(
      screen,
      rows.filter((row) => !row.equal),
    );
    for (const name of strayGroups) screen.line(`    group ${name} is on one side only`);
    for (const name of strayUsers) screen.line(`    account ${name} came from nowhere`);
  }
  const tick = (ok: boolean): string => (ok ? screen.paint('green', '✔') : screen.paint('red', '✘'));
  /** Prints a fact after ✔ if it is as expected, else after ✘. */
  const fact = (ok: boolean, name: string, text: string): void =>
    screen.line(`  ${tick(ok)} ${name.padEnd(18)} ${text}`);
  screen.line();
  const groups = result.company.groups.length;
  const equalGroups =
    strayGroups.length === 0 ? `${groups} of ${groups} groups` : `${strayGroups.length} groups differ`;
  fact(equal, 'equal', `${same.length} of ${rows.length} people, ${equalGroups}`);
  const writes = calls.filter(isRecordedWrite);
  const kinds = countBy(writes.map(({ method }) => method));
  fact(
    true,
    'platform calls',
    `${calls.length}: ${calls.length - writes.length} reads, ${writes.length} writes (${kinds})`,
  );
  const { lagsMs, callsOfRepeat } = result;
  if (lagsMs.length > 0) {
    const [p50, p99] = [percentile(lagsMs, 50), percentile(lagsMs, 99)];
    fact(true, 'push to applied', `p50 ${inMs(p50)}, p99 ${inMs(p99)} over ${lagsMs.length} changes`);
  }
  const isIdempotent = callsOfRepeat === 0;
  fact(
    isIdempotent,
    'identical push',
    callsOfRepeat === undefined ? 'not reached' : `${callsOfRepeat} platform calls`,
  );
  const { access } = result;
  const isRight = access?.faults.length === 0;
  const shown = `each sees only their own rows; push to row ${access?.visibleMs ?? '–'} ms; a leaver's running answer is cut off`;
  fact(isRight, 'access', access ? access.faults.join('; ') || shown : 'not reached');
  // `missing` says which change was not applied in time; run.ts prints it.
  return equal && isIdempotent && isRight && result.missing === undefined;
}

/** Prints a table with two lines per user: the desired values, and below them those of the platform. */
function showRows(screen: Screen, rows: ComparedPerson[]): void {
  const { paint } = screen;
  const table = new Table({
    head: ['', ...COLUMNS].map((name, index) => paint('bold', index === 0 ? '  person' : name)),
    chars: { ...NO_LINES, middle: ' ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1, compact: true },
  });
  let previousIdp: Idp | undefined;
  for (const { idp, desired, platform, equal } of rows) {
    if (idp !== previousIdp)
      table.push([{ content: paint('dim', `  ${COMPANIES[idp]}`), colSpan: COLUMNS.length + 1 }]);
    previousIdp = idp;
    const mark = equal ? paint('green', '✔') : paint('red', '✘');
    const wanted = cells(desired);
    const present = platform ? cells(platform) : COLUMNS.map(() => '–');
    const shownName = platform && platform.name !== desired.name ? platform.name : 'platform';
    table.push([
      `${mark} ${desired.name}\n${paint('dim', `    ${shownName}`)}`,
      ...wanted.map((text, index) => {
        const presentText = present[index] ?? '';
        return `${text}\n${paint(presentText === text ? 'dim' : 'red', presentText)}`;
      }),
    ]);
  }
  for (const line of table.toString().split('\n')) screen.line(`  ${line.trimEnd()}`);
}

function cells(side: Side): string[] {
  const toText = (value: unknown): string => {
    if (value === null) return '–';
    return Array.isArray(value) ? value.join(',') : JSON.stringify(value).replaceAll('"', '');
  };
  return [
    ...[side.country, side.clearance, side.contractor, side.budgets, side.regions].map(toText),
    side.groups.length > 0 ? side.groups.join(', ') : '–',
    side.active ? 'active' : 'inactive',
  ];
}

/** Returns how often each name occurs, as text: `3 POST, 1 PATCH`. */
function countBy(names: string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}

/** Prints all addresses, for further exploration. */
export function showAddresses(screen: Screen, processes: DemoProcesses): void {
  const { bridge, sandbox, scimUrls, tokens, adminToken } = processes;
  screen.heading('Everything keeps running; Ctrl-C ends it');
  const rows = [
    ['SCIM for Okta', scimUrls.okta],
    ['  bearer token', tokens.okta],
    ['SCIM for Entra', scimUrls.entra],
    ['  bearer token', tokens.entra],
    ["operators' page", `${bridge.url}/admin/`],
    ['  admin token', adminToken],
    ['health', `${bridge.url}/health`],
    ['platform', sandbox.platformUrl],
    ['  API key', sandbox.fixtures.apiKeys.admin ?? ''],
    ['  its state', `${sandbox.controlUrl}/state`],
    ['  calls it got', `${sandbox.controlUrl}/requests`],
    ['Redis', processes.sharedRedis ? 'the one of REDIS_URL' : processes.redisUrl],
  ] as const;
  for (const [name, value] of rows) screen.line(`  ${name.padEnd(16)} ${value}`);
}
