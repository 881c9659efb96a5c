// Reads properties of records from the platform: the id is required, other properties are optional.
import { isRecord } from './answer.ts';
import { textId, type Refuse } from './readers.ts';

/** Typed access to the properties of one record. */
export interface RecordFields {
  readonly id: string;
  /** All properties as received. */
  readonly all: Readonly<Record<string, unknown>>;
  /** Returns a text property; throws when it is missing or of another type. */
  text(name: string): string;
  /** Returns a text property, or undefined for any other type. */
  optionalText(name: string): string | undefined;
  /** Returns an id as text, or undefined; null counts as absent. */
  optionalId(name: string): string | undefined;
  isTrue(name: string): boolean;
}

/** Returns a reader for the properties of a record with an id. @throws the error of `refuse` without an id */
export function identified(body: unknown, what: string, refuse: Refuse): RecordFields {
  const all = isRecord(body) ? body : {};
  const id = textId(all['id']);
  if (id === undefined) throw refuse(`${what} without a usable id`);
  const optionalText = (name: string): string | undefined => {
    const value = all[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    id,
    all,
    optionalText,
    text(name) {
      const value = optionalText(name);
      if (value === undefined) throw refuse(`${what} without ${name}`);
      return value;
    },
    optionalId: (name) => textId(all[name]),
    isTrue: (name) => all[name] === true,
  };
}

/** Returns `{[name]: value}`, or `{}` for undefined, so that an absent property stays absent. */
export function optionalMember<Name extends string, T>(
  name: Name,
  value: T | undefined,
): { [key in Name]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: T });
}
