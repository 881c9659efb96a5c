// One logger for the process; parts get children of it. Secrets and personal data are cut before writing.
import { pino, type Logger } from 'pino';

export type { Logger };

const SECRET_FIELDS = ['authorization', 'token', 'secret', 'password', 'apiKey', 'adminToken', 'scimToken'];

const GATHER_CHARACTERS = 12_288;
const GATHER_MS = 100;

interface Lines {
  write(line: string): void;
  flush?(): void;
}

/**
 * Lines leave together: a write of its own for each costs more than making it, and handing it to another thread more than
 * the write. They are held here, because the library measures all that it holds again with every line.
 */
function gathered(out: Lines): Lines {
  let held = '';
  const flush = (): void => {
    if (held !== '') out.write(held);
    held = '';
  };
  setInterval(flush, GATHER_MS).unref();
  process.once('exit', flush);
  return {
    flush,
    write(line) {
      held += line;
      if (held.length >= GATHER_CHARACTERS) flush();
    },
  };
}

/** The time of a line; most lines of a busy service share their millisecond with others. */
function createTimestamp(): () => string {
  let at = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== at) text = `,"time":"${new Date(now).toISOString()}"`;
    at = now;
    return text;
  };
}

const CENSOR = '[redacted]';

/** Secrets one level down, as in `*.token`. A wildcard of pino walks every line for every name; few have any. */
function withoutNestedSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  const cuts: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (typeof value !== 'object' || value === null) continue;
    const secrets = SECRET_FIELDS.filter((name) => name in value);
    if (secrets.length > 0) cuts[key] = censored(value, secrets);
  }
  return Object.keys(cuts).length > 0 ? { ...fields, ...cuts } : fields;
}

function censored(value: object, names: string[]): object {
  const cut = Object.fromEntries(names.map((name) => [name, CENSOR]));
  // What makes an error one is not enumerable: it stays reachable behind the cut.
  return value instanceof Error ? Object.assign(Object.create(value) as Error, cut) : { ...value, ...cut };
}

const MAX_CAUSES = 3;

/**
 * What the log holds of an error. Other properties stay out: an error of the Redis client carries the arguments of its
 * command, which are whole records, and one of the platform client quotes the platform, which may name people.
 */
function loggedError(error: unknown, causes = 0): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause, code, status } = error as Error & Record<'code' | 'status', unknown>;
  const nested = cause === undefined || causes === MAX_CAUSES ? undefined : loggedError(cause, causes + 1);
  return { type: name, message, stack, code, status, cause: nested };
}

/**
 * JSON lines on standard output, or on the given stream. One event name per message, fields in camelCase.
 * Level `error` means that somebody must act.
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
  return pino(options, destination ?? gathered(pino.destination({ sync: true })));
}

/** A logger that says nothing, for parts that are built without a process around them. */
export const silentLogger: Logger = pino({ level: 'silent' });
