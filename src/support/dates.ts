// Parses dates that operators write in settings, options and requests.

const FORM = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/i;

/**
 * Parses a date and time with its zone, such as 2027-01-31T08:00:00Z, or a date (its start in UTC).
 * @returns Unix milliseconds; undefined for another form, and for a date that does not exist
 */
export function parseDate(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  const at = Date.parse(text.toUpperCase());
  const day = text.slice(0, 'YYYY-MM-DD'.length);
  // Date.parse takes 2027-02-31 for 2027-03-03.
  return Number.isNaN(at) || new Date(day).toISOString().slice(0, day.length) !== day ? undefined : at;
}
