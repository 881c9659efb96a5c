// Reads properties of a record from the platform by name and type. A record without a usable id is refused.
import { isRecord, textId, type Refuse } from './readers.ts';

interface RecordFields {
  readonly id: string;
  /** All properties as received. */
  readonly all: Readonly<Record<string, unknown>>;
  /** Returns a text property; throws when it is missing or of another type. */
  text(name: string): string;
  /** Returns a text property, or undefined for any other type. */
  optionalText(name: string): string | undefined;
  /** Returns an id as text, or undefined; null counts as absent. */
  optionalId(name: string): string | undefined;
  /** Returns false for every value but true. */
  isTrue(name: string): boolean;
}

/** Returns the properties of a record. @throws the error of `refuse` for a record without a usable id */
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
