// Stores external users, who exist in chat only: the first request creates them, by default with a limited
// lifetime (contract 6.7).
import { SandboxProblem } from '../problem.ts';
import { EPHEMERAL_TTL_SECONDS } from '../settings.ts';
import type { CurrentState, State } from '../state.ts';
import type { ExternalUserRecord } from './records.ts';
import { ownerOfExternal, removeThreadsOf } from './threads.ts';

/** Properties that a request sets on its external user; undefined = not sent. */
export interface ExternalWish extends Pick<
  ExternalUserRecord,
  'externalId' | 'groups' | 'userAttributes' | 'securityContext'
> {
  readonly email: string | null;
  readonly isEphemeral: boolean | undefined;
  readonly ephemeralTtlSeconds: number | undefined;
}

/** Removes the users whose lifetime has elapsed, with their threads (ASSUMED-98). */
export function removeExpired({ state, nowMs }: CurrentState): void {
  if (nowMs < state.externalExpiry.dueMs) return;
  let dueMs = Infinity;
  for (const id of [...state.externalUsers.ids()]) {
    const user = state.externalUsers.get(id);
    if (!user || user.expiresAtMs === null) continue;
    if (user.expiresAtMs > nowMs) dueMs = Math.min(dueMs, user.expiresAtMs);
    else {
      state.externalUsers.remove(id);
      removeThreadsOf(state, ownerOfExternal(user.externalId));
    }
  }
  state.externalExpiry.dueMs = dueMs;
}

export function externalUserOf(state: State, externalId: string): ExternalUserRecord | undefined {
  return state.externalUsers.find('externalId', externalId)[0];
}

/**
 * Returns the expiry of the user. The lifetime counts from the first request; a later request that names a
 * lifetime restarts it. A persistent user stays persistent, so that an ephemeral request cannot remove the
 * threads.
 */
function expiryOf(present: ExternalUserRecord | undefined, wish: ExternalWish, nowMs: number): number | null {
  if (wish.isEphemeral === false || present?.expiresAtMs === null) return null;
  const lifetime = (seconds: number): number => nowMs + seconds * 1000;
  if (wish.ephemeralTtlSeconds !== undefined) return lifetime(wish.ephemeralTtlSeconds);
  return present?.expiresAtMs ?? lifetime(EPHEMERAL_TTL_SECONDS);
}

/** Creates or updates the user; throws 429 above the limit of persistent users (ASSUMED-97). */
export function provision(current: CurrentState, wish: ExternalWish): ExternalUserRecord {
  const { state, settings, nowMs } = current;
  const present = externalUserOf(state, wish.externalId);
  const expiresAtMs = expiryOf(present, wish, nowMs);
  const isNewlyKept = expiresAtMs === null && present?.expiresAtMs !== null;
  if (isNewlyKept && state.externalUsers.find('kept', 'yes').length >= settings.externalUserLimit)
    throw new SandboxProblem(429, `The account is limited to ${settings.externalUserLimit} external users`);
  const { ephemeralTtlSeconds: _ttl, isEphemeral: _ephemeral, ...said } = wish;
  const user: ExternalUserRecord = {
    ...said,
    id: present?.id ?? state.externalUsers.nextId(),
    email: wish.email ?? present?.email ?? null,
    isEphemeral: expiresAtMs !== null,
    expiresAtMs,
    createdAtMs: present?.createdAtMs ?? nowMs,
    lastSeenAtMs: nowMs,
  };
  state.externalUsers.put(user);
  if (expiresAtMs !== null) state.externalExpiry.dueMs = Math.min(state.externalExpiry.dueMs, expiresAtMs);
  return user;
}
