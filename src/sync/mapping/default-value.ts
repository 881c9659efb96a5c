// Reads the default value of an attribute definition, which a person without a value of their own has at the platform.
import type { AttributeValue, UserAttribute } from '../../platform/wire.ts';

/** Returns the default in the type of the attribute (contract 3.1); undefined: there is none, or its text has another type. */
export function defaultValueOf({ type, defaultValue: text }: UserAttribute): AttributeValue | undefined {
  if (typeof text !== 'string') return undefined;
  if (type === 'string') return text;
  if (type === 'number') {
    // Number('') is 0, but a blank text is no number.
    const number = text.trim() === '' ? Number.NaN : Number(text);
    return Number.isFinite(number) ? number : undefined;
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The platform ignores such a default too.
    return undefined;
  }
  if (type === 'boolean') return typeof parsed === 'boolean' ? parsed : undefined;
  const element = type === 'number_array' ? 'number' : 'string';
  const fits = Array.isArray(parsed) && parsed.every((each) => typeof each === element);
  return fits ? (parsed as string[] | number[]) : undefined;
}

/**
 * Returns `defaultText` of each attribute without a value at the platform whose definition has a default.
 * @param isUnset returns whether the person has no value of the attribute with this name at the platform
 */
export const defaultTexts = (
  definitions: readonly UserAttribute[],
  isUnset: (name: string) => boolean,
): string[] =>
  definitions.flatMap((definition) => {
    const value = defaultValueOf(definition);
    return value === undefined || !isUnset(definition.name) ? [] : [defaultText(definition.name, value)];
  });

/** Returns a sentence, without full stop, about the value that a person has only by the default of the definition. */
export const defaultText = (name: string, value: AttributeValue): string =>
  `${name}: the default value of the platform, ${JSON.stringify(value)}, applies, because no value is stored for this person`;
