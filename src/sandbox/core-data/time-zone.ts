// Knows the IANA time zones of this machine, and converts times to the local time of a zone.

/** Returns the zone in its usual letter case, an alias unchanged; undefined for a name that this machine does not know. */
export function zoneNamed(name: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return undefined;
  try {
    const zone = Intl.DateTimeFormat('en-GB', { timeZone: name }).resolvedOptions().timeZone;
    return zone.toLowerCase() === name.toLowerCase() ? zone : name;
  } catch {
    // A RangeError: the name is not a zone.
    return undefined;
  }
}

/** Returns true for an IANA zone name that this machine knows. */
export const isTimezone = (name: string): boolean => zoneNamed(name) !== undefined;

/** Returns the local time of `ms` in `timezone`, stored in a Date's UTC fields. */
export function wallClock(ms: number, timezone: string): Date {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  // The format above has every part that is read here.
  const at = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return new Date(
    Date.UTC(at('year'), at('month') - 1, at('day'), at('hour'), at('minute'), at('second'), ms % 1000),
  );
}
