// Checks and merges the settings of a console user (contract 3.3).
import { isJsonObject, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const SETTINGS = new Map<string, (value: unknown) => boolean>([
  ['theme', isText],
  ['locale', isText],
  ['timezone', isText],
  ['defaultDeploymentId', Number.isInteger],
  ['alternatingRowColors', (value) => typeof value === 'boolean'],
  ['sheets', isJsonObject],
]);

/**
 * Returns the present settings with a patch: objects merge by property, null clears, unknown settings are
 * ignored (ASSUMED-109). @throws 400 for a value of another type
 */
export function mergeUserSettings(
  present: SandboxJsonObject | null,
  patch: SandboxJsonObject,
): SandboxJsonObject {
  const merged = new Map(Object.entries(present ?? {}));
  for (const [name, value] of Object.entries(patch)) {
    const fits = SETTINGS.get(name);
    if (!fits) continue;
    if (value !== null && !fits(value)) throw new SandboxProblem(400, `${name} cannot take this value`);
    const before = merged.get(name);
    merged.set(name, isJsonObject(value) && isJsonObject(before) ? { ...before, ...value } : value);
  }
  return Object.fromEntries(merged);
}
