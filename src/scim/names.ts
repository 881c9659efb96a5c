// Lists the attributes that hold names, and checks text for control characters.

/** Attributes with a name or an identifier of the resource. Operators see them, so control characters are refused. */
export const NAMES: ReadonlySet<string> = new Set(['userName', 'displayName', 'externalId']);

/** A control character or line separator, as source of a regular expression with the flag `u`. */
export const CONTROL = '[\\p{Cc}\\u2028\\u2029]';

const control = new RegExp(CONTROL, 'u');

export const hasControl = (text: string): boolean => control.test(text);
