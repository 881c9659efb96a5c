// dead-letters: resources whose sync needs a person.
import type { Command } from 'commander';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Outbox } from '../directory/outbox.ts';
import type { Ref } from '../directory/records.ts';
import { readConfig, type Cli } from './cli.ts';
import { withStore } from './store.ts';

interface Flags {
  all?: boolean;
  json?: boolean;
}

export function deadLetters(program: Command, cli: Cli): void {
  const group = program.command('dead-letters').description('resources whose sync needs a person');

  group
    .command('list')
    .description('what is refused, and why in the words of the platform')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const letters = await withStore(readConfig(command, cli), listLetters);
      if (flags.json) console.log(JSON.stringify(letters));
      else if (letters.length === 0) console.log('Nothing needs a person.');
      else
        for (const { connection, target, ref, reason, message } of letters) {
          console.log(`${ref}  ${connection} → ${target}  ${reason}: ${message}`);
        }
    });

  group
    .command('show <ref>')
    .description('everything known of one, such as User:3f…')
    .action(async (ref: string, _flags: Flags, command: Command) => {
      const letters = (await withStore(readConfig(command, cli), listLetters)).filter(
        (letter) => letter.ref === ref,
      );
      if (letters.length === 0) throw new Error(`${ref} needs no person: see scim-bridge dead-letters list.`);
      console.log(JSON.stringify(letters, null, 2));
    });

  const act = (
    name: string,
    description: string,
    run: (outbox: Outbox, refs: Ref[]) => Promise<void>,
  ): void => {
    group
      .command(`${name} [refs...]`)
      .description(description)
      .option('--all', 'all of them')
      .action(async (refs: string[], flags: Flags, command: Command) => {
        if (refs.length === 0 && !flags.all) throw new Error('Name the resources, or say --all.');
        const count = await withStore(readConfig(command, cli), async (states) => {
          let total = 0;
          for (const { outboxes } of states) {
            for (const outbox of outboxes.values()) {
              const blocked = (await outbox.blocked()).map(({ ref }) => ref);
              const chosen = blocked.filter((ref) => flags.all || refs.includes(ref));
              await run(outbox, chosen);
              total += chosen.length;
            }
          }
          return total;
        });
        console.log(
          count === 0 ? 'None of these needs a person: see scim-bridge dead-letters list.' : `${count} done.`,
        );
        if (count === 0 && !flags.all) cli.exit(1);
      });
  };
  act('retry', 'try again now', (outbox, refs) => outbox.mark(refs, 'edit'));
  act(
    'drop',
    'take off the list; the desired state stays, and the next change is tried again',
    async (outbox, refs) => {
      for (const ref of refs) await outbox.dismiss(ref);
    },
  );
}

async function listLetters(states: DesiredState[]) {
  const letters = [];
  for (const { connection, links, outboxes } of states) {
    for (const [target, outbox] of outboxes) {
      const blocked = await outbox.blocked();
      const found = await links.getMany(
        target,
        blocked.map(({ ref }) => ref),
      );
      for (const [index, { ref, since }] of blocked.entries()) {
        const condition = found[index]?.condition;
        letters.push({
          connection,
          target,
          ref,
          since: new Date(since).toISOString(),
          reason: condition?.reason ?? 'Unknown',
          message: condition?.message ?? '',
          status: condition?.status ?? null,
        });
      }
    }
  }
  return letters;
}
