// One logger for the process; parts get children of it. Secrets and personal data are cut before writing.
import { pino, type Logger } from 'pino';

export type { Logger };

const SECRET_FIELDS = ['authorization', 'token', 'secret', 'password', 'apiKey', 'adminToken', 'scimToken'];

/**
 * Lines leave together: a write of its own for each costs more than making it, and handing it to another thread more than
 * the write. What waits is written at the exit.
 */
const GATHER_BYTES = 12_288;
const GATHER_MS = 100;

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

/**
 * JSON lines on standard output, or on the given stream. One event name per message, fields in camelCase.
 * Level `error` means that somebody must act.
 */
export function createLogger(level: string, destination?: { write(line: string): void }): Logger {
  const options = {
    level,
    base: { service: 'scim-bridge' },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET_FIELDS, censor: CENSOR },
    formatters: { log: withoutNestedSecrets },
  };
  if (destination) return pino(options, destination);
  return pino(options, pino.destination({ sync: true, minLength: GATHER_BYTES, periodicFlush: GATHER_MS }));
}

/** A logger that says nothing, for parts that are built without a process around them. */
export const silentLogger: Logger = pino({ level: 'silent' });
