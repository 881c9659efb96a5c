// Defines the command acts, which prints the audit entries of operators as text or NDJSON.
import { InvalidArgumentError, type Command } from 'commander';
import { parseDuration } from '../config/forms.ts';
import { readActs, verifyActs, type LocatedAct } from '../ops/acts.ts';
import { readConfig, type Cli } from './cli.ts';
import { withStore } from './store.ts';
import { say } from './output.ts';
import { counted } from '../support/counted.ts';

interface Flags {
  since?: number;
  json?: boolean;
  verify?: boolean;
}

export function actsCommand(program: Command, cli: Cli): void {
  program
    .command('acts')
    .description('what operators ordered, who and when: holds, decisions, tokens, links; newest first')
    .option('--since <when>', 'from then on: 24h, 7d, or a date such as 2027-01-31T08:00:00Z', toMoment)
    .option('--json', 'NDJSON, one record a line')
    .option('--verify', 'check that no entry was altered or taken out; exit 1 if one was')
    .action(async (flags: Flags, command: Command) => {
      await withStore(readConfig(command, cli), async (states) => {
        if (flags.verify) {
          for (const { connection, entries, broken } of await verifyActs(states)) {
            const said =
              broken === null
                ? `${counted(entries, 'entry', 'entries')}, none altered`
                : `altered or taken out at ${broken}`;
            say(`${connection}: ${said}`);
            if (broken !== null) cli.exit(1);
          }
          return;
        }
        let isEmpty = true;
        for await (const act of readActs(states, flags.since)) {
          isEmpty = false;
          say(flags.json ? JSON.stringify(act) : toText(act));
        }
        if (isEmpty && !flags.json) say('Nothing was ordered.');
      });
    });
}

function toText({ at, connection, target, act, by, via, subject, count, note }: LocatedAct): string {
  const where = target === undefined ? connection : `${connection} → ${target}`;
  const what = [act, subject, count === undefined ? '' : `(${count})`, note && `"${note}"`];
  return `${at}  ${where}  ${what.filter(Boolean).join(' ')}  by ${by}, ${via}`;
}

function toMoment(text: string): number {
  const back = parseDuration(text);
  const moment = back === undefined ? Date.parse(text) : Date.now() - back;
  if (Number.isNaN(moment)) throw new InvalidArgumentError('Say 24h, 7d, or a date such as 2027-01-31.');
  return moment;
}
