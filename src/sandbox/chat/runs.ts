// The running answers of a state, by thread. They live in memory only: after a restart every thread is idle.
import type { Run } from './run.ts';

/** Why a run is told to stop. */
export type Stop = 'aborted' | 'left' | 'shutdown';

interface Live {
  readonly run: Run;
  readonly stop: (why: Stop) => void;
}

export interface Runs {
  get(chatId: string): Run | undefined;
  add(run: Run, stop: (why: Stop) => void): void;
  remove(run: Run): void;
  /** Stops the run of a thread, at once; nothing when it is idle. */
  stop(chatId: string, why: Stop): void;
  /** Somebody was deactivated or deleted: the answers they started or paid the key for stop at once. */
  userLeft(userId: number): void;
  stopAll(): void;
  count(): number;
}

export function createRuns(): Runs {
  const live = new Map<string, Live>();
  const stopWhere = (matches: (run: Run) => boolean, why: Stop): void => {
    for (const { run, stop } of [...live.values()]) if (matches(run)) stop(why);
  };
  return {
    get: (chatId) => live.get(chatId)?.run,
    add(run, stop) {
      live.set(run.chatId, { run, stop });
    },
    remove(run) {
      if (live.get(run.chatId)?.run === run) live.delete(run.chatId);
    },
    stop: (chatId, why) => live.get(chatId)?.stop(why),
    userLeft(userId) {
      // Called on every change of a deactivated person: most of the time nothing runs at all.
      if (live.size > 0) stopWhere((run) => run.userIds.has(userId), 'left');
    },
    stopAll: () => stopWhere(() => true, 'shutdown'),
    count: () => live.size,
  };
}
