// Defines faults of the settings, and the error that contains all of them.

/** One fault: the JSON pointer (RFC 6901) of its place, and a sentence about what to do. */
export interface ConfigFault {
  path: string;
  message: string;
}

/** All faults of the settings. Contains no values of the settings, so no secrets. */
export class ConfigError extends Error {
  readonly faults: ConfigFault[];
  constructor(faults: ConfigFault[]) {
    const lines = faults.map((fault) => `  ${fault.path}: ${fault.message}`);
    super(['The settings are not valid:', ...lines].join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Returns the first fault of each path: later faults of one path are mostly consequences of the first. */
export function firstPerPath(faults: readonly ConfigFault[]): ConfigFault[] {
  const byPath = new Map<string, ConfigFault>();
  for (const fault of faults) if (!byPath.has(fault.path)) byPath.set(fault.path, fault);
  return [...byPath.values()];
}
