// Defines the command explain, which prints why a user or group is, or is not, as desired at each target.
import type { Command } from 'commander';
import { explain } from '../explain/explain.ts';
import { renderExplanations } from '../explain/render.ts';
import type { Explanation } from '../explain/explanation.ts';
import { visibleIn } from '../support/visible.ts';
import { readConfig, type Cli } from './cli.ts';
import { withCommandName } from './command-name.ts';
import { withScopes } from './scopes.ts';
import { UnknownResource } from './unknown-resource.ts';
import { sayJson, sayLines } from './output.ts';

interface Flags {
  target?: string;
  all?: boolean;
  json?: boolean;
}

export function explainCommand(program: Command, cli: Cli): void {
  program
    .command('explain <user|group>')
    .description(
      'why this person or group is, or is not, at each target as desired; by userName, externalId, address, name, id or ref',
    )
    .option('--target <name>', 'only this target')
    .option('--all', 'print everything, not only what fits on a screen')
    .option('--json', 'print as JSON')
    .action(async (text: string, flags: Flags, command: Command) => {
      const found = await explained(text, flags, command, cli);
      if (flags.json) return sayJson(found);
      // Commands are renamed before the page is made, because a line may break within a command.
      const named = found.map((each) => visibleIn(each, withCommandName));
      const pages = renderExplanations(named, { all: flags.all ?? false });
      sayLines(pages.flatMap((lines, index) => [...(index > 0 ? [''] : []), ...lines]));
    });
}

async function explained(
  text: string,
  { target }: Flags,
  command: Command,
  cli: Cli,
): Promise<Explanation[]> {
  const config = readConfig(command, cli);
  return withScopes(config, { target }, async ({ scopes, readFleet }) => {
    const all = scopes.map(({ scope }) => scope);
    const found = await explain(all, text, readFleet);
    if (found.length === 0) throw new UnknownResource(text, { config, target });
    return found;
  });
}
