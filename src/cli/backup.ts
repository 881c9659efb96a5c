// backup and restore: everything that Redis keeps, in one file; a restore comes up on hold.
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { actorOf, readConfig, type Cli } from './cli.ts';
import { createProgressLine } from './progress.ts';
import { withStore } from './store.ts';

interface Flags {
  replace?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function backup(program: Command, cli: Cli): void {
  program
    .command('backup <file>')
    .description('write everything that Redis keeps to a file with checksums, while the service runs')
    .option('--json', 'print as JSON')
    .action(async (file: string, flags: Flags, command: Command) => {
      const progress = createProgressLine('backup');
      const report = await withStore(readConfig(command, cli), async (states) => {
        const ops = await import('../ops/backup.ts');
        return ops.backup(states, file, Date.now(), (done, total) =>
          progress.show({ phase: 'items', done, total }),
        );
      }).finally(progress.end);
      if (flags.json) console.log(JSON.stringify({ file, ...report }));
      else {
        const { users = 0, groups = 0, links = 0 } = report.counts;
        console.log(`${file}: ${users} users, ${groups} groups, ${links} links. SHA-256 ${report.sha256}`);
        console.log('It holds personal data and digests of tokens: keep it as you keep Redis.');
      }
    });
}

export function restore(program: Command, cli: Cli): void {
  program
    .command('restore <file>')
    .description('put a backup back; nothing is written to any platform until scim-bridge release')
    .option('--replace', 'remove what is stored first')
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print as JSON')
    .action(async (file: string, flags: Flags, command: Command) => {
      if (!(await agreed(flags))) throw new Error('Nothing was changed.');
      const progress = createProgressLine('restore');
      const report = await withStore(readConfig(command, cli), async (states) => {
        const ops = await import('../ops/restore.ts');
        return ops.restore(states, file, {
          replace: flags.replace ?? false,
          actor: actorOf(cli),
          onItems: (done, total) => progress.show({ phase: 'items', done, total }),
        });
      }).finally(progress.end);
      if (flags.json) {
        console.log(JSON.stringify(report));
        return;
      }
      const { users = 0, groups = 0, links = 0 } = report.counts;
      console.log(`Restored from ${report.createdAt}: ${users} users, ${groups} groups, ${links} links.`);
      if (report.dropped > 0)
        console.log(`${report.dropped} were left out: they changed while the backup was taken.`);
      console.log('Every target is on hold. Look at scim-bridge plan, then scim-bridge release.');
    });
}

/** Asks on a terminal before anything is removed; a script says --replace and means it. */
async function agreed({ replace, yes, json }: Flags): Promise<boolean> {
  if (!replace || yes || json || !process.stdin.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(
    'Remove everything that is stored and put the backup there? Type yes: ',
  );
  terminal.close();
  return answer.trim() === 'yes';
}
