// Indexes the running answers of a state by thread, in memory only: after a restart every thread is idle.
import type { Run } from './run.ts';

/** Reason why a run is stopped: by its user, because its user lost access, or because the sandbox stops or is reset. */
export type Stop = 'aborted' | 'left' | 'shutdown';

interface Live {
  readonly run: Run;
  readonly stop: (reason: Stop) => void;
}

export interface Runs {
  get(chatId: string): Run | undefined;
  add(run: Run, stop: (reason: Stop) => void): void;
  remove(run: Run): void;
  /** Stops the run of a thread at once; does nothing when the thread is idle. */
  stop(chatId: string, reason: Stop): void;
  /** Stops the runs that a deactivated or deleted user started or whose API key they own. */
  userLeft(userId: number): void;
  stopAll(): void;
  count(): number;
}

export function createRuns(): Runs {
  const live = new Map<string, Live>();
  const stopWhere = (matches: (run: Run) => boolean, reason: Stop): void => {
    for (const { run, stop } of [...live.values()]) if (matches(run)) stop(reason);
  };
  return {
    get: (chatId) => live.get(chatId)?.run,
    add(run, stop) {
      live.set(run.chatId, { run, stop });
    },
    remove(run) {
      if (live.get(run.chatId)?.run === run) live.delete(run.chatId);
    },
    stop: (chatId, reason) => live.get(chatId)?.stop(reason),
    userLeft(userId) {
      // Called on every change of a deactivated user; usually no run is active.
      if (live.size > 0) stopWhere((run) => run.userIds.has(userId), 'left');
    },
    stopAll: () => stopWhere(() => true, 'shutdown'),
    count: () => live.size,
  };
}
