// Defines the command backup, which writes everything that Redis keeps to a file.
import type { Command } from 'commander';
import type { Config } from '../config/schema.ts';
import { backup, type BackupReport } from '../ops/backup/backup.ts';
import { counted } from '../support/counted.ts';
import { readConfig, type Cli } from './cli.ts';
import { complain, say } from './output.ts';
import { writePrivately } from './private-file.ts';
import { createProgressLine } from './progress.ts';
import { withStore } from './store.ts';

interface BackupFlags {
  overwrite?: boolean;
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
              writeBackup(config, async (text) => void (await out.writeFile(text))),
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

/** Writes to standard output, and waits while its reader is slower. */
async function toStandardOutput(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise((resolve) => process.stdout.once('drain', resolve));
}

/** Returns what a backup has left out as damaged, what a restore then lacks, and what to do. */
function damagedText({ connection, key, item = '' }: BackupReport['damaged'][number]): string {
  const text = `Left out: ${connection}: ${`${key} ${item}`.trim()}. It is damaged, and a restore would refuse the file.`;
  if (key !== 'users' && key !== 'groups')
    return `${text} See scim-bridge doctor --deep; scim-bridge doctor --repair mends links. Then make another backup.`;
  const [resource, atPlatform] = key === 'users' ? ['user', 'account'] : ['group', 'group'];
  return `${text} Push this ${resource} again at the identity provider as a whole, then make another backup: a restore of this one leaves the ${atPlatform} as it is, but brings no memberships back.`;
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
