// Keeps values of the stored resource in a write: immutable attributes, which cannot change once set (RFC 7643 §7, RFC 7644
// §3.5.1 and §3.5.2), and `active`, which a PUT may leave out without reactivating the user.
import type { Field } from './attributes.ts';
import { mutability } from './errors.ts';
import { isEqual, ownValue } from './json.ts';
import { toCanonical, type PlacedField, type Resource, type ResourceType } from './resource-type.ts';

type Holder = Readonly<Record<string, unknown>>;

const valueOf = (resource: Resource, { section, field }: PlacedField): unknown =>
  ownValue(section.core ? resource : resource[section.urn], field.name);

/** Returns whether two values are equal for the attribute; complex values and lists by their JSON text, which is canonical. */
const isSame = (field: Field, a: unknown, b: unknown): boolean =>
  isEqual(field, a, b) || JSON.stringify(a) === JSON.stringify(b);

/**
 * Returns `next` with the immutable attributes of `before`. A PUT may leave an immutable attribute out; a PATCH must not
 * remove it. @throws 400 mutability for another value, and for a removal by PATCH
 */
export function keepImmutable(
  type: ResourceType,
  before: Resource,
  next: Resource,
  operation: 'replace' | 'patch',
): Resource {
  let corrected: Record<string, unknown> | undefined;
  for (const immutable of type.immutable) {
    const { section, field } = immutable;
    const current = valueOf(before, immutable);
    const given = valueOf(next, immutable);
    if (current === undefined || isSame(field, current, given)) continue;
    if (given !== undefined || operation === 'patch') {
      throw mutability(`Attribute "${field.path}" cannot be changed once it has a value.`);
    }
    corrected ??= { ...next };
    if (section.core) corrected[field.name] = current;
    else
      corrected[section.urn] = { ...(corrected[section.urn] as Holder | undefined), [field.name]: current };
  }
  return corrected ? toCanonical(type, corrected) : next;
}

/** Returns the user with this value of `active`; undefined: the user is returned unchanged. */
export const withActive = (type: ResourceType, user: Resource, active: unknown): Resource =>
  active === undefined ? user : toCanonical(type, { ...user, active });
