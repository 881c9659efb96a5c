// Logs refused JWTs, at most one line per minute for each reason.
import { decodeJwt, decodeProtectedHeader, errors } from 'jose';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { visible } from '../support/visible.ts';

/** Time after a line in which the same reason is only counted. */
const QUIET_MS = 60_000;
/** Largest number of logged characters of a text from a client. */
const MAX_CHARACTERS = 200;

interface LoggedReason {
  /** Time of the last line. */
  at: number;
  /** Number of refusals since then. */
  suppressed: number;
}

/** @returns a function that logs why a token was refused. Of the token it logs only `iss` and `kid` */
export function createRefusedJwtLog(
  { clock, logger }: { clock: Clock; logger: Logger },
  issuer: string,
): (token: string, error: unknown) => void {
  // Keys are an error code and a claim name of the library jose, so the map stays small.
  const logged = new Map<string, LoggedReason>();
  return (token, error) => {
    const { code, claim, message } = error as { code?: string; claim?: string; message: string };
    const key = `${code ?? ''} ${claim ?? ''}`;
    const now = clock.now();
    const last = logged.get(key);
    if (last && now - last.at < QUIET_MS) {
      last.suppressed += 1;
      return;
    }
    logged.set(key, { at: now, suppressed: 0 });
    const fields = { issuer, code, claim, reason: short(message), ...namesIn(token) };
    const line = { ...fields, suppressed: last?.suppressed ?? 0 };
    if (error instanceof errors.JOSEError) logger.info(line, 'JWT refused');
    else logger.warn(line, 'JWT cannot be checked with the keys of the issuer');
  };
}

/** Returns issuer and key id of the token, both unverified. */
function namesIn(token: string): { claimedIssuer?: string | undefined; kid?: string | undefined } {
  try {
    return { claimedIssuer: short(decodeJwt(token).iss), kid: short(decodeProtectedHeader(token).kid) };
  } catch {
    return {};
  }
}

const short = (text: unknown): string | undefined =>
  typeof text === 'string' ? visible(text.slice(0, MAX_CHARACTERS)) : undefined;
