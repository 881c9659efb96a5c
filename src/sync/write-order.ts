// Orders changed attributes so that a person never has more in between than before and after. Pure.
import type { UserAttributeType } from '../platform/wire.ts';
import { fitsExtension } from './diff.ts';
import type { DesiredUser } from './mapping.ts';

export interface WriteOrder {
  /** Values that take something away: cleared, `false`, and lists that only lose elements. */
  first: string[];
  /** Single texts and whole numbers, which one PATCH of the SCIM user can carry. */
  together: string[];
  last: string[];
}

export const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** @param applied the known values at the platform; a value in `unsure` may be another one */
export function writeOrder(
  desired: DesiredUser['attributes'],
  applied: {
    types: Record<string, UserAttributeType>;
    attributes: Record<string, unknown> | undefined;
    unsure: readonly string[] | undefined;
  },
  names: Iterable<string>,
): WriteOrder {
  const order: WriteOrder = { first: [], together: [], last: [] };
  for (const name of names) {
    const wanted = desired[name];
    const known = applied.unsure?.includes(`attributes.${name}`) ? undefined : applied.attributes?.[name];
    if (isEmpty(wanted) || wanted === false || isPart(wanted, known)) order.first.push(name);
    else if (fitsExtension(applied.types[name], wanted)) order.together.push(name);
    else order.last.push(name);
  }
  return order;
}

/** Returns whether a list has no element that the other one does not have. */
const isPart = (wanted: unknown, known: unknown): boolean =>
  Array.isArray(wanted) && Array.isArray(known) && wanted.every((element) => known.includes(element));
