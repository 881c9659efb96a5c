// Defines the command status, which prints the backlog and the health of each target (status-target.ts), then the processes of the
// service and the tokens that need attention.
import type { Command } from 'commander';
import { tokenSettingsOf } from '../app/open.ts';
import { EXCEPTION_REASONS } from '../directory/outbox/exceptions.ts';
import { listExceptions, type ExceptionView } from '../ops/approvals/exceptions.ts';
import { tokenFindings } from '../ops/doctor/token-findings.ts';
import { failingText } from '../ops/status/failing.ts';
import type { FleetReport } from '../ops/status/fleet.ts';
import { fleetText, processText } from '../ops/status/fleet-text.ts';
import { isConverged, readStatus } from '../ops/status/status.ts';
import { systemClock } from '../support/sources.ts';
import { readConfig, type Cli } from './cli.ts';
import { say, sayJson } from './output.ts';
import { printTarget } from './status-target.ts';
import { withStore } from './store.ts';

/** Largest number of exceptions of each reason that are named. */
const MOST_NAMED = 3;

export function statusCommand(program: Command, cli: Cli): void {
  program
    .command('status')
    .description('how far each target is behind; exit 2 while something is not applied')
    .option('--json', 'print as JSON')
    .action(async (options: { json?: boolean }, command: Command) => {
      const config = readConfig(command, cli);
      const rows = await withStore(config, async (states, store) => {
        const found = await readStatus(states, store);
        if (options.json) return found;
        for (const row of found) {
          const { connection, target } = row;
          const named: ExceptionView[] = [];
          for (const reason of EXCEPTION_REASONS.filter((each) => row.exceptions[each] > 0))
            named.push(...(await listExceptions(states, { connection, target, reason, limit: MOST_NAMED })));
          const state = states.find((each) => each.connection === connection);
          printTarget(row, named, row.dirty > 0 && state ? await failingText(state, target) : undefined);
        }
        // Each row has the report of the same fleet.
        printFleet(found[0]?.fleet ?? (await store.readFleet()));
        const places = { states, ...tokenSettingsOf(config) };
        for (const { area, message, advice } of await tokenFindings(places, systemClock))
          say(`${area}: ! ${message}. ${advice ?? ''}`);
        return found;
      });
      if (options.json) sayJson(rows);
      cli.exit(rows.every(isConverged) ? 0 : 2);
    });
}

const MOST_PROCESSES = 100;

function printFleet(fleet: FleetReport): void {
  const { processes, findings } = fleet;
  say(`fleet: ${fleetText(fleet)}`);
  for (const each of processes.slice(0, MOST_PROCESSES)) say(`  ${processText(each)}`);
  if (processes.length > MOST_PROCESSES) say(`  … and ${processes.length - MOST_PROCESSES} more`);
  for (const { message, advice } of findings) say(`  ! ${message}. ${advice}`);
}
