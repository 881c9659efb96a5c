// Decides which platform account belongs to a user. Pure.
import type { WireUser } from '../../platform/wire.ts';
import { someOf } from '../../support/sentence-parts.ts';

/** A matching account. */
export interface Candidate {
  user: WireUser;
  /** The bridge created or managed the account before, and no other existing resource is linked to it. */
  ours: boolean;
  /** A create of this user whose answer was lost has made the account. */
  isMade?: boolean;
  /** Another existing resource that is linked to this account. */
  heldBy?: string | undefined;
}

/** Largest number of matching accounts that a conflict names. */
const MOST_CANDIDATES = 3;

export type Correlation =
  | { kind: 'absent' }
  | { kind: 'adopt'; user: WireUser; ours: boolean; isMade: boolean }
  /**
   * `isNotAdopted`: the setting `adopt` alone prevents the adoption. `isForeign`: no resource of the connection has the account, so
   * it may be that of a connection that is not in the settings.
   */
  | { kind: 'conflict'; message: string; isNotAdopted?: boolean; isForeign?: boolean };

/**
 * Decides whether an account that may be the user's is adopted: only the single candidate, and only if no other resource is linked
 * to it. With `ours` it is adopted in any case. Otherwise it must not have another externalId, and `adopt` (target.ts) must be
 * `exact`. All else is a conflict for an operator, because a wrong match would give one person another person's rows.
 */
export function correlate(
  wanted: { userName: string; externalId: string | null },
  candidates: Candidate[],
  adopt: 'exact' | 'report' | 'never',
): Correlation {
  if (candidates.length === 0) return { kind: 'absent' };
  if (candidates.length > 1) {
    const names = candidates.map(({ user }) => user.userName);
    const message = `${candidates.length} accounts match, ${someOf(names, { most: MOST_CANDIDATES })}: merge or delete all but one`;
    return { kind: 'conflict', isForeign: true, message };
  }
  const [{ user, ours, isMade = false, heldBy }] = candidates as [Candidate];
  if (heldBy !== undefined) {
    return {
      kind: 'conflict',
      message: `the account is already linked to ${heldBy}: rename or delete one of them`,
    };
  }
  if (ours) return { kind: 'adopt', user, ours, isMade };
  if (user.externalId && wanted.externalId && user.externalId !== wanted.externalId) {
    return {
      kind: 'conflict',
      isForeign: true,
      message: 'an account with this userName carries another externalId: correct it or delete the account',
    };
  }
  if (adopt !== 'exact') {
    return {
      kind: 'conflict',
      isNotAdopted: true,
      message: `the account exists already and adopt is ${adopt}`,
    };
  }
  return { kind: 'adopt', user, ours, isMade };
}
