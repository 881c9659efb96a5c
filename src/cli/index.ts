// The command table: one file per command.
import { Command, CommanderError } from 'commander';
import { backup, restore } from './backup.ts';
import { checkConfig } from './check-config.ts';
import { deadLetters } from './dead-letters.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { explain } from './explain.ts';
import { hold, release } from './hold.ts';
import { links } from './links.ts';
import { log } from './log.ts';
import { plan } from './plan.ts';
import { plans } from './plans.ts';
import { apply, reconcile } from './reconcile.ts';
import { resync } from './resync.ts';
import { sandbox } from './sandbox.ts';
import { serve } from './serve.ts';
import { status } from './status.ts';
import { token } from './token.ts';
import { sync } from './sync.ts';
import { verifyAccess } from './verify-access.ts';
import { reportFailure, type Cli } from './cli.ts';

/** Runs one command and resolves to the exit code of the process (docs: interface of the command line). */
export async function runCli(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  let code = 0;
  const cli: Cli = {
    env,
    cwd: process.cwd(),
    exit: (value) => {
      code = value;
    },
  };
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

  const commands = [
    serve,
    checkConfig,
    doctor,
    status,
    plan,
    apply,
    reconcile,
    plans,
    hold,
    release,
    explain,
    sync,
    links,
    backup,
    restore,
    deadLetters,
    log,
    resync,
    token,
    verifyAccess,
    sandbox,
    demo,
  ];
  for (const add of commands) add(program, cli);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    return reportFailure(error);
  }
  return code;
}
