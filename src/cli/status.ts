// status: how far each target is behind.
import type { Command } from 'commander';
import { isConverged, readStatus } from '../ops/status.ts';
import { readConfig, type Cli } from './cli.ts';
import { withStore } from './store.ts';

export function status(program: Command, cli: Cli): void {
  program
    .command('status')
    .description('how far each target is behind; exit 2 while something is not applied')
    .option('--json', 'print as JSON')
    .action(async (options: { json?: boolean }, command: Command) => {
      const rows = await withStore(readConfig(command, cli), readStatus);
      if (options.json) console.log(JSON.stringify(rows));
      else {
        for (const row of rows) {
          console.log(
            `${row.connection} → ${row.target}: ${row.users} users, ${row.groups} groups; ` +
              `${row.dirty} not applied yet, ${row.blocked} need a person` +
              (row.guard.held > 0 ? `, ${row.guard.held} held by the guard: see scim-bridge plans list` : ''),
          );
          const { last } = row.reconcile;
          if (last) {
            const ended = new Date(last.endedAt).toISOString();
            console.log(
              `  last reconcile ${ended}: ${last.outcome}${last.message ? `, ${last.message}` : ''}`,
            );
          }
          if (row.hold) {
            const since = new Date(row.hold.since).toISOString();
            console.log(
              `  on hold since ${since} by ${row.hold.by}: nothing is written until scim-bridge release`,
            );
          }
        }
      }
      cli.exit(rows.every(isConverged) ? 0 : 2);
    });
}
