// Checks single texts of the settings: each `check…` returns a sentence about the fault without the text, or undefined.
import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import cron from 'node-cron';
import { parseDate } from '../support/dates.ts';
import { patternFault } from '../support/linear-regexp.ts';
import { parseRedisAddress } from '../support/redis-address.ts';

const SHORTEST_SECRET = 16;
const MINUTE_MS = 60_000;
const UNIT_MS = { ms: 1, s: 1000, m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1440 * MINUTE_MS };

/** Converts `24h`, `30m`, `90s`, `500ms` or `7d` to milliseconds; undefined for another form, and for 0. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (unit === undefined) return undefined;
  const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return ms > 0 ? ms : undefined;
}

export function checkDuration(text: string): string | undefined {
  if (parseDuration(text) !== undefined) return undefined;
  return 'Not a duration. Write a number above 0 with ms, s, m, h or d, such as 24h or 30m.';
}

/** Checks a secret: enough characters that it cannot be guessed, and only those that a header may have. */
export function checkSecretForm(text: string): string | undefined {
  if (text === '') return 'The secret is empty.';
  // A bearer token in a header must consist of visible ASCII characters.
  if (!/^[\x21-\x7e]+$/.test(text)) return 'The secret holds blanks, line ends or letters beyond ASCII.';
  return text.length < SHORTEST_SECRET
    ? `The secret is shorter than ${SHORTEST_SECRET} characters.`
    : undefined;
}

export const checkRegex = (text: string): string | undefined => patternFault(text);

/** Checks the form first, because node-cron says only whether a pattern is valid, not what is wrong. */
export function checkCron(text: string): string | undefined {
  const fields = text.trim().split(/\s+/);
  // A sixth field in front, the seconds, is accepted but not advertised.
  const isPlausible = fields.every((field) => /^[\dA-Za-z*/,-]+$/.test(field));
  if (!isPlausible || (fields.length !== 5 && fields.length !== 6))
    return "Not a cron pattern. Write 5 fields (minute hour day month weekday), such as '*/30 * * * *', or null.";
  if (cron.validate(text)) return undefined;
  return 'A field of this cron pattern has a value that does not exist, such as minute 60 or the 31st of February.';
}

export function checkTimezone(text: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return undefined;
  } catch {
    return 'Not a known time zone. Use an IANA name such as UTC or Europe/Berlin.';
  }
}

/** Checks CIDR notation. An address with a zone id (`%eth0`) names no network. */
export function checkNetwork(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  // 4 or 6; 0: no IP address.
  const family = address.includes('%') ? 0 : isIP(address);
  const longest = family === 4 ? 32 : 128;
  const isValidLength = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest);
  if (family !== 0 && isValidLength && rest.length === 0) return undefined;
  return 'Not a network. Write CIDR form such as 10.0.0.0/8 or 2001:db8::/32, or one IP address.';
}

/** Checks a network of trusted proxies, whose X-Forwarded-For header is believed. */
export function checkProxyNetwork(text: string): string | undefined {
  const fault = checkNetwork(text);
  if (fault !== undefined || !text.endsWith('/0')) return fault;
  return 'This network contains every address, so every client could claim any address. Name the networks of your proxies.';
}

export function checkDateTime(text: string): string | undefined {
  const form = /^.{10}T\d\d:\d\d:\d\d/i;
  if (form.test(text) && parseDate(text) !== undefined) return undefined;
  return 'Not a date and time. Write it like 2027-01-31T00:00:00Z.';
}

/** Checks the address of the bridge or of a platform: scheme, host, port and path only. */
export function checkWebAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'Not a web address. Write it in full, such as https://acme.example.com.';
  }
  if (url.username || url.password) return 'Remove user and password from the address.';
  return url.search || url.hash ? 'Remove everything from ? or # on.' : undefined;
}

export function checkRedisAddress(text: string): string | undefined {
  const address = parseRedisAddress(text);
  // A text is the fault.
  return typeof address === 'string' ? address : undefined;
}

/** Checks the address of a cluster node: one host, and database 0. */
export function checkClusterNode(text: string): string | undefined {
  const address = parseRedisAddress(text);
  if (typeof address === 'string') return address;
  if (address.sentinel) return 'A cluster has no sentinels: write redis://host:6379 or rediss://host:6379.';
  return address.db === 0 ? undefined : 'A cluster has only database 0: remove the number of the database.';
}

export function checkReadable(file: string): string | undefined {
  try {
    accessSync(file, constants.R_OK);
    return undefined;
  } catch (error) {
    return `The file cannot be read (${(error as NodeJS.ErrnoException).code}).`;
  }
}
