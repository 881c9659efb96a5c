// Members of a record that somebody else wrote: what identifies it must be there, the rest is taken as it comes.
import { isRecord } from './answer.ts';
import { textId, type Refuse } from './readers.ts';

export interface Members {
  readonly id: string;
  /** All members as they came. */
  readonly all: Readonly<Record<string, unknown>>;
  /** A member that must be text; refused otherwise. */
  text(name: string): string;
  /** A text member, or undefined for anything else. */
  optionalText(name: string): string | undefined;
  /** An id as text, or undefined; null counts as absent. */
  optionalId(name: string): string | undefined;
  isTrue(name: string): boolean;
}

/** The members of a record that has an id; throws what `refuse` makes without one. */
export function identified(body: unknown, what: string, refuse: Refuse): Members {
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

/** `{[name]: value}`, or nothing for undefined: an absent member stays absent. */
export function optionalMember<Name extends string, T>(
  name: Name,
  value: T | undefined,
): { [key in Name]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: T });
}
