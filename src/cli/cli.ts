// Reads the settings for commands, and turns errors into messages and exit codes.
import type { Command } from 'commander';
import { ConfigError, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { DataVersionRefused } from '../directory/fleet/data-version.ts';
import { isStoreFailure, storeFailureText } from '../directory/redis/why-away.ts';
import { messageWithPlatformText } from '../platform/errors.ts';
import { configChecks } from '../sync/mapping/config-checks.ts';
import { complain } from './output.ts';

/** Parts of the process that a command uses. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  /** Working folder, from which relative paths of settings are read. */
  cwd: string;
  exit(code: number): void;
}

/** Exit code for settings that cannot be used (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIG = 78;
/** Exit code when Redis holds data of a version that this program must not work with (EX_DATAERR of sysexits.h). */
const EXIT_DATA_VERSION = 65;

/** @throws ConfigError with every fault at once */
export function readConfig(command: Command, { env, cwd }: Cli): Config {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  return readSettings({ env, cwd, ...(config === undefined ? {} : { file: config }) });
}

/** @throws ConfigError with every fault at once */
export const readSettings = (source: { env: NodeJS.ProcessEnv; cwd: string; file?: string }): Config =>
  loadConfig({ ...source, checks: configChecks });

/** Prints an error to standard error, with what to do. @returns the exit code of the process */
export function reportFailure(error: unknown): number {
  if (error instanceof ConfigError) {
    complain('The settings cannot be used:');
    for (const { path, message } of error.faults) complain(`  ${path}: ${message}`);
    return EXIT_CONFIG;
  }
  if (error instanceof DataVersionRefused) {
    complain(error.message);
    return EXIT_DATA_VERSION;
  }
  if (isStoreFailure(error)) complain(storeFailureText(error));
  else complain(error instanceof Error ? messageWithPlatformText(error) : String(error));
  return 1;
}
