// Defines the index keys of chat's tables; state.ts imports this file, so it must not import the state.
import type { ExternalUserRecord, ThreadRecord } from './records.ts';

/** Returns the index key of the thread that this owner opened with this message. */
export function openingKey(deploymentId: string, owner: string, messageId: string): string {
  return `${deploymentId}/${owner}/${messageId}`;
}

/**
 * Keys by chatId, by owner, and by the opening message, because a client that lost the first answer does not
 * know the chatId.
 */
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
  /** For counting persistent users; ephemeral ones have no key. */
  lifetime: (user: ExternalUserRecord) => (user.expiresAtMs === null ? ['persistent'] : []),
};

/** Earliest expiry of an external user, Unix milliseconds; before that time no expiry check is needed. */
export interface ExternalExpiry {
  dueMs: number;
}
