// How chat's records are found: the keys of its tables (below state.ts, so nothing here may know the state).
import type { ExternalUserRecord, ThreadRecord } from './records.ts';

export function openingKey(deploymentId: string, owner: string, messageId: string): string {
  return `${deploymentId}/${owner}/${messageId}`;
}

/** By chatId, by owner, and by the message that opened it: a client that lost the first answer knows no chatId. */
export const THREAD_KEYS = {
  chatId: (thread: ThreadRecord) => [thread.chatId],
  owner: (thread: ThreadRecord) => [thread.owner],
  opening: (thread: ThreadRecord) => {
    const messageId = thread.runs[0]?.messageId ?? null;
    return messageId === null ? [] : [openingKey(thread.deploymentId, thread.owner, messageId)];
  },
};

export const EXTERNAL_USER_KEYS = {
  externalId: (user: ExternalUserRecord) => [user.externalId],
  kept: (user: ExternalUserRecord) => (user.expiresAtMs === null ? ['yes'] : []),
};

/** Earliest expiry among the external users, Unix milliseconds: nothing to look for before it. */
export interface ExternalExpiry {
  dueMs: number;
}
