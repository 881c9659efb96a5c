// Saves some time after a change, never twice at once, and a last time at the end.

/** Changes within this time share one snapshot. */
const DELAY_MS = 200;

export interface WriteBehind {
  /** Something has changed; cheap, may be called for every change. */
  changed(): void;
  /** Waits for a save under way, then saves what is not saved yet; rejects when that fails. */
  stop(): Promise<void>;
}

/** `save` writes the state of the moment it is called; `onError` hears of a save that failed, the next change tries again. */
export function createWriteBehind(save: () => Promise<void>, onError: (error: unknown) => void): WriteBehind {
  let isDirty = false;
  let isLost = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  function plan(): void {
    if (timer || running || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = run().finally(() => {
        running = undefined;
        if (isDirty) plan();
      });
    }, DELAY_MS);
  }
  async function run(): Promise<void> {
    isDirty = false;
    try {
      await save();
      isLost = false;
    } catch (error) {
      // Not dirty again by itself: a full disk is not asked five times a second.
      onError(error);
      isLost = true;
    }
  }

  return {
    changed() {
      isDirty = true;
      plan();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
      if (!isDirty && !isLost) return;
      isDirty = false;
      await save();
    },
  };
}
