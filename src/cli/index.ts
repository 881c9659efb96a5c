// Lists the commands of scim-bridge and runs the one that the arguments name.
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { versionText } from '../support/version.ts';
import type { Cli } from './cli.ts';
import { COMMAND_NAMES, withCommandName, type CommandName } from './command-name.ts';

type Add = (program: Command, cli: Cli) => void;

/** Each module is loaded on demand, so that `serve` does not load the others. */
const COMMANDS: Record<CommandName, () => Promise<Add>> = {
  serve: async () => (await import('./serve.ts')).serveCommand,
  'check-config': async () => (await import('./check-config.ts')).checkConfigCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  plan: async () => (await import('./plan.ts')).planCommand,
  apply: async () => (await import('./apply.ts')).applyCommand,
  reconcile: async () => (await import('./reconcile.ts')).reconcileCommand,
  approvals: async () => (await import('./approvals.ts')).approvalsCommand,
  hold: async () => (await import('./hold.ts')).holdCommand,
  release: async () => (await import('./hold.ts')).releaseCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  sync: async () => (await import('./sync.ts')).syncCommand,
  links: async () => (await import('./links.ts')).linksCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  restore: async () => (await import('./restore.ts')).restoreCommand,
  'dead-letters': async () => (await import('./dead-letters.ts')).deadLettersCommand,
  exceptions: async () => (await import('./exceptions.ts')).exceptionsCommand,
  acts: async () => (await import('./acts.ts')).actsCommand,
  events: async () => (await import('./events.ts')).eventsCommand,
  notices: async () => (await import('./notices.ts')).noticesCommand,
  log: async () => (await import('./log.ts')).logCommand,
  resync: async () => (await import('./hold.ts')).resyncCommand,
  token: async () => (await import('./token.ts')).tokenCommand,
  forget: async () => (await import('./forget.ts')).forgetCommand,
  handover: async () => (await import('./handover.ts')).handoverCommand,
  'verify-access': async () => (await import('./verify-access.ts')).verifyAccessCommand,
  sandbox: async () => (await import('./sandbox.ts')).sandboxCommand,
  demo: async () => (await import('./demo.ts')).demoCommand,
};

/**
 * Runs one command and resolves to the exit code of the process (docs/commands.md).
 * @param onStart called with the command just before it runs
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
  // Loads only the commands that the arguments name. If they name none, all are loaded for the help.
  const asked = COMMAND_NAMES.filter((name) => args.includes(name));
  const isVersion = args.length === 1 && args[0] === '--version';
  const program = await createProgram(cli, asked.length > 0 || isVersion ? asked : undefined);
  program.hook('preAction', (_program, command) => onStart?.(command));
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const [{ reportFailure }, { reportUnknown }] = await Promise.all([
      import('./cli.ts'),
      import('./unknown-resource.ts'),
    ]);
    return (await reportUnknown(error)) ?? reportFailure(error);
  }
  return code;
}

/** A quoted value of more than 100 characters in a refusal of an argument; the capture group is the part that is shown. */
const LONG_VALUE = /('[^']{100})[^']+'/g;

/** Creates the program with the commands of these names. */
export async function createProgram(
  cli: Cli,
  names: readonly CommandName[] = COMMAND_NAMES,
): Promise<Command> {
  const program = new Command('scim-bridge')
    .description(
      "Keeps a data platform's users, groups and typed user attributes equal to what identity providers push.",
    )
    .option(
      '--config <file>',
      'settings file (default: SCIM_BRIDGE_CONFIG, or config/bridge.yaml if present)',
    )
    .version(versionText(cli.env), '--version', 'show the version, and in an image the revision')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void process.stdout.write(withCommandName(text)),
      writeErr: (text) => void process.stderr.write(withCommandName(text)),
      outputError: (text, write) => write(text.replace(LONG_VALUE, "$1…'")),
    })
    .showHelpAfterError('(scim-bridge --help shows all commands)');
  for (const name of names) (await COMMANDS[name]())(program, cli);
  program.commands.forEach(refuseRepeated);
  return program;
}

/** Refuses an option with one value that is given twice, because commander would silently use the last value. */
function refuseRepeated(command: Command): void {
  for (const option of command.options.filter((each) => !each.isBoolean() && !each.variadic)) {
    const { parseArg } = option;
    option.argParser((value, previous) => {
      if (command.getOptionValueSource(option.attributeName()) === 'cli')
        throw new InvalidArgumentError('Give the option once.');
      return parseArg ? parseArg(value, previous) : value;
    });
  }
  command.commands.forEach(refuseRepeated);
}
