// Defines the command check-config, which reports all faults of the settings or prints the effective settings.
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { printableConfig } from '../config/redact.ts';
import { ConfigError } from '../config/faults.ts';
import type { Config } from '../config/schema.ts';
import { tryRules } from '../sync/mapping/rule-trial.ts';
import { configWarnings } from '../config/warnings.ts';
import { readConfig, type Cli } from './cli.ts';
import { complain, say, sayJson, sayRows } from './output.ts';

export function checkConfigCommand(program: Command, cli: Cli): void {
  program
    .command('check-config')
    .description('validate the settings; exit 78 with every fault when they cannot be used')
    .option('--print', 'show the effective settings, secrets masked')
    .option('--json', 'print as JSON')
    .action(async (options: { print?: boolean; json?: boolean }, command: Command) => {
      const config = settingsOf(command, cli, options.json === true);
      // Warnings go to standard error, so that standard output stays machine-readable.
      for (const { path, message, advice } of configWarnings(config))
        complain(`Warning: ${path}: ${message}. ${advice}`);
      // A trial depends on the speed of the machine and on sample people who are like no real person. So serve makes no trial,
      // and here a failed trial is only a warning.
      for (const { path, message } of await tryRules(config.targets))
        complain(
          `Warning: ${path}: ${message} serve accepts it; a person for whom it fails becomes a dead letter.`,
        );
      const printable = printableConfig(config);
      if (options.json) sayJson(options.print ? printable : { ok: true });
      else if (options.print) sayRows(...stringify(printable).trimEnd().split('\n'));
      else say(`The settings are valid (${config.source ?? 'environment'}).`);
    });
}

/** Reads the settings. @throws ConfigError with every fault; if `isJson`, the faults are printed to standard output before */
function settingsOf(command: Command, cli: Cli, isJson: boolean): Config {
  try {
    return readConfig(command, cli);
  } catch (error) {
    if (isJson && error instanceof ConfigError) sayJson({ ok: false, faults: error.faults });
    throw error;
  }
}
