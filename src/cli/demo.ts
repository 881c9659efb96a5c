// Defines the command demo.
import type { Command } from 'commander';
import type { Cli } from './cli.ts';

export function demoCommand(program: Command, cli: Cli): void {
  program
    .command('demo')
    .description('bring up Redis, a platform and the bridge, push a small company and show what arrives')
    .option('--keep', 'leave everything running and print the addresses')
    .action(async (flags: { keep?: boolean }) => {
      const { runDemo } = await import('../demo/run.ts');
      cli.exit(await runDemo({ keep: flags.keep ?? false, env: cli.env }));
    });
}
