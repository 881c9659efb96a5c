// Saves the state DELAY_MS after a change, one save at a time; `stop` saves changes that are not saved yet.

/** Changes within this time share one snapshot. */
const DELAY_MS = 200;

export interface WriteBehind {
  /** Reports a change; cheap enough for every change. */
  changed(): void;
  /** Waits for a running save, then saves remaining changes; rejects if this save fails. */
  stop(): Promise<void>;
}

/**
 * `save` writes the state at the time of the call; `onError` receives the error of a failed save, and the next
 * change retries.
 */
export function createWriteBehind(save: () => Promise<void>, onError: (error: unknown) => void): WriteBehind {
  let isDirty = false;
  let lastSaveFailed = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  function schedule(): void {
    if (timer || running || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = run().finally(() => {
        running = undefined;
        if (isDirty) schedule();
      });
    }, DELAY_MS);
  }
  async function run(): Promise<void> {
    isDirty = false;
    try {
      await save();
      lastSaveFailed = false;
    } catch (error) {
      // Not retried without a change: a full disk would be written to five times a second.
      onError(error);
      lastSaveFailed = true;
    }
  }

  return {
    changed() {
      isDirty = true;
      schedule();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
      if (!isDirty && !lastSaveFailed) return;
      isDirty = false;
      await save();
    },
  };
}
