// Records recent changes, so that reads can return an earlier state (fault `staleReadsMs`).

/** Longest lag that can be served, milliseconds. */
const KEEP_MS = 60_000;

export interface RecentChanges<Entry> {
  /** Records a change at the present time, if changes are recorded now. */
  note(entry: Entry): void;
  /** Returns the changes after `cutoffMs`, newest first. */
  after(cutoffMs: number): Entry[];
}

export interface RecentChangesDeps {
  now(): number;
  /** Returns true while changes must be recorded, because a fault asks for stale reads. */
  isKept(): boolean;
  /** Called on every change, recorded or not. */
  changed?(): void;
}

export function createRecentChanges<Entry>(deps: RecentChangesDeps): RecentChanges<Entry> {
  let notes: { atMs: number; entry: Entry }[] = [];
  return {
    note(entry) {
      deps.changed?.();
      if (!deps.isKept()) {
        if (notes.length > 0) notes = [];
        return;
      }
      const atMs = deps.now();
      const first = notes[0];
      if (first && first.atMs < atMs - 2 * KEEP_MS)
        notes = notes.filter((kept) => kept.atMs >= atMs - KEEP_MS);
      notes.push({ atMs, entry });
    },
    after(cutoffMs) {
      const found: Entry[] = [];
      for (let index = notes.length - 1; index >= 0; index -= 1) {
        const kept = notes[index];
        if (!kept || kept.atMs <= cutoffMs) break;
        found.push(kept.entry);
      }
      return found;
    },
  };
}
