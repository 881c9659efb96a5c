// Says how much of a plan is shown: which parts are listed entry by entry, and how long a list may be.

/** Colours a text by the sign of the entry that it is about. */
export type Paint = (sign: string, text: string) => string;

/** Which parts of a plan are listed entry by entry; the others are counted, with examples. */
export interface Listed {
  changes: boolean;
  /** Entries that no run writes, exceptions and the handover. */
  others: boolean;
  /** Lists are not cut, and each change has several lines. */
  all: boolean;
}

/** Largest number of rows of one list of exceptions, or of entries that no run writes, unless `all` is set. */
export const MOST_ROWS = 40;
