// Records recent changes, so that reads can return an earlier state (fault `staleReadsMs`).

/** Largest `staleReadsMs`, milliseconds. */
export const LONGEST_LAG_MS = 60_000;

export interface RecentChangesDeps {
  now(): number;
  /** Returns true while changes must be recorded, because a fault asks for stale reads. */
  isKept(): boolean;
  /** Called on every change, recorded or not. */
  changed?(): void;
}

export function createRecentChanges<Entry>(deps: RecentChangesDeps) {
  let notes: { atMs: number; entry: Entry }[] = [];
  return {
    /** Records a change at the present time, if changes are recorded now. */
    note(entry: Entry): void {
      deps.changed?.();
      if (!deps.isKept()) {
        if (notes.length > 0) notes = [];
        return;
      }
      const atMs = deps.now();
      const first = notes[0];
      // Removes many changes at once: removing them one at a time would copy the list at every change.
      if (first && first.atMs < atMs - 2 * LONGEST_LAG_MS)
        notes = notes.filter((kept) => kept.atMs >= atMs - LONGEST_LAG_MS);
      notes.push({ atMs, entry });
    },
    /** Returns the changes after `cutoffMs`, newest first. */
    after: (cutoffMs: number): Entry[] =>
      notes
        .filter((kept) => kept.atMs > cutoffMs)
        .map(({ entry }) => entry)
        .reverse(),
  };
}
