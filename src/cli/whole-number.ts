// Parses the number of an option such as --limit.
import { InvalidArgumentError } from 'commander';

/** Returns a parser for a whole number within these limits; it throws InvalidArgumentError. */
export const toWhole =
  (least: number, most: number) =>
  (text: string): number => {
    // `Number` reads an empty text as 0.
    const count = text.trim() === '' ? NaN : Number(text);
    if (Number.isInteger(count) && count >= least && count <= most) return count;
    throw new InvalidArgumentError(
      `Say a whole number from ${least}${most === Infinity ? '' : ` to ${most}`}.`,
    );
  };
