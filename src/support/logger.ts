// Creates the logger of the process. It redacts secrets by the names of their fields, and drops what errors of the platform quote.
import { pino, type Logger } from 'pino';
import { isoTime } from './sources.ts';

export type { Logger };

const SECRET_FIELDS = ['authorization', 'token', 'secret', 'password', 'apiKey', 'adminToken', 'scimToken'];

/** Number of buffered characters that are written at once. */
const BUFFER_CHARACTERS = 12_288;
/** Longest time that a line is buffered. */
const FLUSH_MS = 100;

interface Lines {
  write(line: string): void;
  flush?(): void;
}

/**
 * Returns a stream that buffers lines and writes them together. A write for each line would cost more than formatting it,
 * and a transport thread even more. The buffer of pino is not used, because pino measures it again at each line.
 */
function buffered(out: Lines): Lines {
  let pending = '';
  const flush = (): void => {
    if (pending !== '') out.write(pending);
    pending = '';
  };
  setInterval(flush, FLUSH_MS).unref();
  process.once('exit', flush);
  return {
    flush,
    write(line) {
      pending += line;
      if (pending.length >= BUFFER_CHARACTERS) flush();
    },
  };
}

/** Returns a function that formats the current time. It caches the text, because many lines share a millisecond. */
function createTimestamp(): () => string {
  let at = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== at) text = `,"time":"${isoTime(now)}"`;
    at = now;
    return text;
  };
}

const CENSOR = '[redacted]';

/**
 * Redacts secrets one level below the fields of a line, such as `target.token`; deeper ones stay. The option `*.token` of pino
 * would visit every property of every line.
 */
function withoutNestedSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  const redacted: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (typeof value !== 'object' || value === null) continue;
    const secrets = SECRET_FIELDS.filter((name) => name in value);
    if (secrets.length > 0) redacted[key] = censored(value, secrets);
  }
  return Object.keys(redacted).length > 0 ? { ...fields, ...redacted } : fields;
}

/** Returns a copy of an object or error with the named properties redacted. */
function censored(value: object, names: string[]): object {
  const replaced = Object.fromEntries(names.map((name) => [name, CENSOR]));
  // The name, message and stack of an error are not enumerable, so the copy keeps the error as its prototype.
  return value instanceof Error
    ? Object.assign(Object.create(value) as Error, replaced)
    : { ...value, ...replaced };
}

/** Largest number of nested causes that are logged. */
const MAX_CAUSES = 3;

/**
 * Returns the properties of an error that may be logged. Other properties are left out: an ioredis error holds the arguments of
 * its command, which are whole resources, and an error of the platform client quotes the platform.
 */
function loggedError(error: unknown, causes = 0): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause, code, status } = error as Error & Record<'code' | 'status', unknown>;
  const nested = cause === undefined || causes === MAX_CAUSES ? undefined : loggedError(cause, causes + 1);
  return { type: name, message, stack, code, status, cause: nested };
}

/**
 * Returns a logger that writes JSON lines to standard output or to the given stream. Each event has one fixed message; its
 * data are fields in camelCase. Level `error` means that an operator must act.
 */
export function createLogger(level: string, destination?: Lines): Logger {
  const options = {
    level,
    base: { service: 'scim-bridge' },
    timestamp: createTimestamp(),
    redact: { paths: SECRET_FIELDS, censor: CENSOR },
    formatters: { log: withoutNestedSecrets },
    serializers: { err: (error: unknown) => loggedError(error) },
  };
  return pino(options, destination ?? buffered(pino.destination({ sync: true })));
}

/** Logger without output, for parts that are built outside of a service. */
export const silentLogger: Logger = pino({ level: 'silent' });
