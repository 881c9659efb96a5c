// What changed lately, so that a read can be answered as of some moments ago (fault `staleReadsMs`).

/** Longest lag that can be served, milliseconds. */
const KEEP_MS = 60_000;

export interface Journal<Entry> {
  /** Notes a change of this moment; does nothing while no fault asks for stale reads. */
  note(entry: Entry): void;
  /** The changes after `cutoffMs`, newest first. */
  after(cutoffMs: number): Entry[];
}

export interface JournalDeps {
  now(): number;
  isKept(): boolean;
  /** Hears of every change, kept or not. */
  changed?(): void;
}

export function createJournal<Entry>(deps: JournalDeps): Journal<Entry> {
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
