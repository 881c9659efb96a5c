// One logger for the process; parts get children of it. Secrets and personal data are cut before writing.
import { pino, type Logger } from 'pino';

export type { Logger };

const SECRET_FIELDS = ['authorization', 'token', 'secret', 'password', 'apiKey', 'adminToken', 'scimToken'];

/**
 * JSON lines on standard output, or on the given stream. One event name per message, fields in camelCase.
 * Level `error` means that somebody must act.
 */
export function createLogger(level: string, destination?: { write(line: string): void }): Logger {
  const options = {
    level,
    base: { service: 'scim-bridge' },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
      censor: '[redacted]',
    },
  };
  return destination
    ? pino(options, destination)
    : pino(options, pino.destination({ sync: false, minLength: 0 }));
}

/** A logger that says nothing, for parts that are built without a process around them. */
export const silentLogger: Logger = pino({ level: 'silent' });
