// Which platform account is this user? Pure: candidates in, verdict out.
import type { WireUser } from '../platform/wire.ts';

/** A found account; `ours` says that the bridge made it or managed it before and nobody else holds it now. */
export interface Candidate {
  user: WireUser;
  ours: boolean;
  /** Another resource of ours that is linked to this account and still exists. */
  heldBy?: string | undefined;
}

export type Correlation =
  | { kind: 'absent' }
  | { kind: 'adopt'; user: WireUser; ours: boolean }
  | { kind: 'conflict'; message: string };

/**
 * Exactly one exact match is taken over, if that is allowed or the account is ours. Everything else is for a person:
 * a wrong guess would give one person another person's rows.
 */
export function correlate(
  wanted: { userName: string; externalId: string | null },
  candidates: Candidate[],
  adopt: 'exact' | 'report' | 'never',
): Correlation {
  if (candidates.length === 0) return { kind: 'absent' };
  if (candidates.length > 1) {
    return { kind: 'conflict', message: `${candidates.length} accounts match: merge or delete all but one` };
  }
  const [{ user, ours, heldBy }] = candidates as [Candidate];
  if (heldBy !== undefined) {
    return {
      kind: 'conflict',
      message: `the account is already linked to ${heldBy}: rename or delete one of them`,
    };
  }
  if (ours) return { kind: 'adopt', user, ours };
  if (user.externalId && wanted.externalId && user.externalId !== wanted.externalId) {
    return {
      kind: 'conflict',
      message: 'an account with this userName carries another externalId: correct it or delete the account',
    };
  }
  if (adopt !== 'exact') {
    return {
      kind: 'conflict',
      message: `the account exists already and adopt is ${adopt}: set adopt to exact to take it over`,
    };
  }
  return { kind: 'adopt', user, ours };
}
