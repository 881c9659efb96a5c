// The command table: one file per command.
import { Command, CommanderError } from 'commander';
import type { Cli } from './cli.ts';

type Add = (program: Command, cli: Cli) => void;

/** In the order in which help shows them. Each is loaded when it is asked for: `serve` does not carry the others along. */
const COMMANDS: Record<string, () => Promise<Add>> = {
  serve: async () => (await import('./serve.ts')).serve,
  'check-config': async () => (await import('./check-config.ts')).checkConfig,
  doctor: async () => (await import('./doctor.ts')).doctor,
  status: async () => (await import('./status.ts')).status,
  plan: async () => (await import('./plan.ts')).plan,
  apply: async () => (await import('./reconcile.ts')).apply,
  reconcile: async () => (await import('./reconcile.ts')).reconcile,
  approvals: async () => (await import('./approvals.ts')).approvals,
  hold: async () => (await import('./hold.ts')).hold,
  release: async () => (await import('./hold.ts')).release,
  explain: async () => (await import('./explain.ts')).explain,
  sync: async () => (await import('./sync.ts')).sync,
  links: async () => (await import('./links.ts')).links,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./backup.ts')).restore,
  'dead-letters': async () => (await import('./dead-letters.ts')).deadLetters,
  acts: async () => (await import('./acts.ts')).acts,
  events: async () => (await import('./events.ts')).events,
  log: async () => (await import('./log.ts')).log,
  resync: async () => (await import('./resync.ts')).resync,
  token: async () => (await import('./token.ts')).token,
  'verify-access': async () => (await import('./verify-access.ts')).verifyAccess,
  sandbox: async () => (await import('./sandbox.ts')).sandbox,
  demo: async () => (await import('./demo.ts')).demo,
};

/**
 * Runs one command and resolves to the exit code of the process (docs/commands.md).
 * @param onStart told of the command just before it runs
 */
export async function runCli(
  args: string[],
  env: NodeJS.ProcessEnv,
  onStart?: (command: Command) => void,
): Promise<number> {
  let code = 0;
  const cli: Cli = {
    env,
    cwd: process.cwd(),
    exit: (value) => {
      code = value;
    },
  };
  const asked = Object.keys(COMMANDS).filter((name) => args.includes(name));
  const program = await createProgram(cli, asked.length > 0 ? asked : undefined);
  program.hook('preAction', (_program, command) => onStart?.(command));
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const { reportFailure } = await import('./cli.ts');
    return reportFailure(error);
  }
  return code;
}

/** Creates the program with the commands of these names. */
export async function createProgram(cli: Cli, names = Object.keys(COMMANDS)): Promise<Command> {
  const program = new Command('scim-bridge')
    .description(
      "Keeps a data platform's users, groups and typed user attributes equal to what identity providers push.",
    )
    .option(
      '--config <file>',
      'settings file (default: SCIM_BRIDGE_CONFIG, or config/bridge.yaml if present)',
    )
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(scim-bridge --help shows all commands)');
  for (const name of names) (await COMMANDS[name]?.())?.(program, cli);
  return program;
}
