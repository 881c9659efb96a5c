// Faults of the settings, and the error that carries them all.

/** One fault: where it is, and what to do about it. */
export interface ConfigFault {
  path: string;
  message: string;
}

/** Everything that is wrong with the settings, at once. Holds no value of the settings, hence no secret. */
export class ConfigError extends Error {
  readonly faults: ConfigFault[];
  constructor(faults: ConfigFault[]) {
    const lines = faults.map((fault) => `  ${fault.path}: ${fault.message}`);
    super(['The settings are not valid:', ...lines].join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** One fault per path: the first says the cause, later ones only its consequences. */
export function firstPerPath(faults: readonly ConfigFault[]): ConfigFault[] {
  const byPath = new Map<string, ConfigFault>();
  for (const fault of faults) if (!byPath.has(fault.path)) byPath.set(fault.path, fault);
  return [...byPath.values()];
}
