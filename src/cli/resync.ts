// resync: everybody is looked at again, for instance after the mapping has changed.
import type { Command } from 'commander';
import { refOf, type Kind } from '../directory/records.ts';
import { readConfig, type Cli } from './cli.ts';
import { withStore } from './store.ts';

const KINDS: Kind[] = ['User', 'Group'];

export function resync(program: Command, cli: Cli): void {
  program
    .command('resync')
    .description(
      'mark all users and groups for another look, behind everything else; writes only what differs',
    )
    .option('--target <name>', 'only this target')
    .action(async (flags: { target?: string }, command: Command) => {
      const config = readConfig(command, cli);
      if (flags.target !== undefined && !(flags.target in config.targets)) {
        throw new Error(`There is no target ${flags.target}: see scim-bridge check-config --print.`);
      }
      const count = await withStore(config, async (states) => {
        let marked = 0;
        for (const { directory, links, outboxes } of states) {
          const chosen = [...outboxes.values()].filter(({ target }) => target === (flags.target ?? target));
          // Who is deleted at the source may be due for deletion at the platform by now.
          for (const outbox of chosen) {
            for await (const { ref, link } of links.all(outbox.target)) {
              if (link.departed) await outbox.mark([ref], 'reconcile', 'resync');
            }
          }
          for (const kind of KINDS) {
            for await (const records of directory.scan(kind)) {
              const refs = records.map(({ id }) => refOf(kind, id));
              for (const outbox of chosen) await outbox.mark(refs, 'reconcile', 'resync');
              marked += refs.length;
            }
          }
        }
        return marked;
      });
      console.log(`${count} users and groups will be looked at again: see scim-bridge status.`);
    });
}
