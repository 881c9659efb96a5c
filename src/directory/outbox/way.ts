// Reads the way back from a platform id.
import type { Ref } from '../records.ts';

/** A ref, and how the account looked when it was found equal to the link. */
export function parseWay(text: string): { ref: Ref; print?: string } {
  const blank = text.indexOf(' ');
  if (blank < 0) return { ref: text as Ref };
  return { ref: text.slice(0, blank) as Ref, print: text.slice(blank + 1) };
}
