// Builds the effective settings: built-in defaults, then the file, then the environment; all faults at once.
import { dirname } from 'node:path';
import { checkAlternatives, checkMeaning, type ConfigChecks } from './checks.ts';
import { toConfig } from './derive.ts';
import { applyEnvironment } from './environment.ts';
import { ConfigError, firstPerPath, type ConfigFault } from './faults.ts';
import type { Config, Settings } from './schema.ts';
import { readSettingsFile } from './settings-file.ts';
import { select } from './places.ts';
import { SECRET_PATTERNS } from './secrets.ts';
import { substitute } from './substitute.ts';
import { validateSchema } from './validate.ts';

export { ConfigError };
export type { ConfigChecks, ConfigFault };

interface LoadOptions {
  /** The --config argument. */
  file?: string | undefined;
  env: NodeJS.ProcessEnv;
  /** Folder from which relative paths start. */
  cwd: string;
  /** Checks of filters, paths and expressions by other layers; without them these texts are not checked. */
  checks?: ConfigChecks | undefined;
}

/** Reads and validates the settings. @throws ConfigError with the first fault of each path */
export function loadConfig({ file, env, cwd, checks }: LoadOptions): Config {
  const { source, document: written } = readSettingsFile(file, env, cwd);
  const folder = source === null ? cwd : dirname(source);
  const { document, wholeReferences, fromFiles, faults: unresolved } = substitute(written, env, folder);
  const fromEnvironment = applyEnvironment(document, env, source !== null);
  // Checked before defaults are filled in, because only settings that the operator wrote can exclude each other.
  const alternatives = checkAlternatives(document);

  const faults = firstPerPath([
    // A reference that cannot be resolved is no fault where an environment variable overrides the setting.
    ...unresolved.filter((fault) => !fromEnvironment.has(fault.path)),
    ...validateSchema(document, wholeReferences),
    ...alternatives,
    ...checkMeaning(document, checks),
  ]);
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => nameVariable(fault, fromEnvironment)));
  // A document without faults has the form of `Settings`.
  const config = toConfig(document as unknown as Settings, source);
  const secretPaths = new Set(SECRET_PATTERNS.flatMap((at) => select(document, at).map(({ path }) => path)));
  const secretFiles = fromFiles.filter(({ path }) => secretPaths.has(path) && !fromEnvironment.has(path));
  return { ...config, secretFiles };
}

/** Adds the environment variable that the faulty value comes from. */
function nameVariable(fault: ConfigFault, fromEnvironment: ReadonlyMap<string, string>): ConfigFault {
  const variable = fromEnvironment.get(fault.path);
  return variable
    ? { ...fault, message: `${fault.message} (It comes from the variable ${variable}.)` }
    : fault;
}
