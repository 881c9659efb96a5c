// Desired × applied, value by value. Pure.
import type { Link } from '../directory/links.ts';
import type { DesiredUser } from '../sync/mapping.ts';
import { sameValue } from '../sync/values.ts';
import type { ValueState } from './explanation.ts';

/** Every value that is managed; what neither side has is left out. */
export function toValues(
  { active, core, attributes, faults, inScope }: DesiredUser,
  link: Link,
): ValueState[] {
  const unsure = new Set(link.unsure ?? []);
  const state = (name: string, desired: unknown, applied: unknown): ValueState['state'] =>
    unsure.has(name) ? 'unsure' : sameValue(desired, applied) ? 'equal' : 'differs';
  const values: ValueState[] = [];
  const add = (name: string, desired: unknown, applied: unknown): void => {
    if (desired === null && applied === null) return;
    values.push({ name, desired, applied, state: state(name, desired, applied) });
  };
  add('active', inScope && active, link.core?.active ?? null);
  for (const [path, desired] of Object.entries(core)) add(path, desired, link.core?.[path] ?? null);
  for (const [name, desired] of Object.entries(attributes))
    add(`attributes.${name}`, desired, link.attributes?.[name] ?? null);
  for (const { attribute, reason } of faults) {
    const applied = link.attributes?.[attribute] ?? null;
    values.push({ name: `attributes.${attribute}`, desired: null, applied, state: 'unmappable', reason });
  }
  return values;
}
