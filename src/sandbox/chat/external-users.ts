// Stores external users, who exist in chat only: the first request creates them, by default with a limited
// lifetime (contract 6.7).
import { SandboxProblem } from '../problem.ts';
import { EPHEMERAL_TTL_SECONDS } from '../settings.ts';
import type { CurrentState, State } from '../state.ts';
import type { ExternalUserRecord } from './records.ts';
import { ownerOfExternal, removeThreadsOf } from './threads.ts';

/** Properties that a request sets on its external user; undefined = not sent. */
export interface RequestedExternalUser extends Pick<
  ExternalUserRecord,
  'externalId' | 'groups' | 'userAttributes' | 'securityContext'
> {
  readonly email: string | null;
  readonly isEphemeral: boolean | undefined;
  readonly ephemeralTtlSeconds: number | undefined;
}

/** Removes the users whose lifetime has elapsed, with their threads (ASSUMED-98). */
export function removeExpired({ state, nowMs }: CurrentState): void {
  // Before the earliest expiry no user can have expired.
  if (nowMs < state.externalExpiry.dueMs) return;
  let dueMs = Infinity;
  for (const { id, externalId, expiresAtMs } of state.externalUsers.rows()) {
    if (expiresAtMs === null) continue;
    if (expiresAtMs > nowMs) dueMs = Math.min(dueMs, expiresAtMs);
    else {
      state.externalUsers.remove(id);
      removeThreadsOf(state, ownerOfExternal(externalId));
    }
  }
  state.externalExpiry.dueMs = dueMs;
}

export function externalUserOf(state: State, externalId: string): ExternalUserRecord | undefined {
  return state.externalUsers.find('externalId', externalId)[0];
}

/**
 * Returns the time at which the user expires; null = never. The lifetime counts from the first request; a later
 * request that names a lifetime restarts it. A persistent user stays persistent: else ephemeral requests
 * would let the user's threads expire.
 */
function expiryOf(
  present: ExternalUserRecord | undefined,
  requested: RequestedExternalUser,
  nowMs: number,
): number | null {
  if (requested.isEphemeral === false || present?.expiresAtMs === null) return null;
  const expiryAfter = (seconds: number): number => nowMs + seconds * 1000;
  if (requested.ephemeralTtlSeconds !== undefined) return expiryAfter(requested.ephemeralTtlSeconds);
  return present?.expiresAtMs ?? expiryAfter(EPHEMERAL_TTL_SECONDS);
}

/** Creates or updates the user. @throws 429 when there are too many persistent users (ASSUMED-97) */
export function provision(current: CurrentState, requested: RequestedExternalUser): ExternalUserRecord {
  const { state, settings, nowMs } = current;
  const present = externalUserOf(state, requested.externalId);
  const expiresAtMs = expiryOf(present, requested, nowMs);
  const becomesPersistent = expiresAtMs === null && present?.expiresAtMs !== null;
  if (
    becomesPersistent &&
    state.externalUsers.find('lifetime', 'persistent').length >= settings.externalUserLimit
  )
    throw new SandboxProblem(429, `The account is limited to ${settings.externalUserLimit} external users`);
  const user: ExternalUserRecord = {
    externalId: requested.externalId,
    groups: requested.groups,
    userAttributes: requested.userAttributes,
    securityContext: requested.securityContext,
    id: present?.id ?? state.externalUsers.nextId(),
    email: requested.email ?? present?.email ?? null,
    isEphemeral: expiresAtMs !== null,
    expiresAtMs,
    createdAtMs: present?.createdAtMs ?? nowMs,
    lastSeenAtMs: nowMs,
  };
  state.externalUsers.put(user);
  if (expiresAtMs !== null) state.externalExpiry.dueMs = Math.min(state.externalExpiry.dueMs, expiresAtMs);
  return user;
}
