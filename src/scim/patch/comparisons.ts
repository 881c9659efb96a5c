// Bounds the values that the PATCH operations of one request compare, because their number is a product of three lengths that the
// client chooses: operations, stored values, and comparisons in the filter of a path.
import { tooMany } from '../errors.ts';
import { comparisonsIn } from '../filter/evaluate-in-steps.ts';
import type { Filter } from '../filter/filter.ts';

/** Comparisons of one request. Identity providers need some hundreds; this many take about half a second, in slices. */
const MOST_COMPARISONS = 1_000_000;

export class Comparisons {
  #left = MOST_COMPARISONS;

  /**
   * Counts one operation. A refused one does not count, so that the later operations of a Bulk request have results of their own.
   * @param values number of values that the operation compares
   * @throws 400 tooMany above MOST_COMPARISONS in total
   */
  count(values: number, filter?: Filter): void {
    const needed = values * (filter ? comparisonsIn(filter) : 1);
    if (needed > this.#left) {
      throw tooMany(
        `The operations compare more than ${MOST_COMPARISONS} values: send fewer at once, or shorter filters in their paths.`,
      );
    }
    this.#left -= needed;
  }

  /** Returns a function that takes back what was counted since: a write that is repeated counts once. */
  savepoint(): () => void {
    const left = this.#left;
    return () => void (this.#left = left);
  }
}
