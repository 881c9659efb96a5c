// Parses a reverse link: the value that `linked:<target>` (keys.ts) holds for `kind:platform id`.
import type { Ref } from '../records.ts';

/** Returns the ref, and the fingerprint of the account when it was equal to its link. */
export function parseReverseLink(text: string): { ref: Ref; print?: string } {
  const space = text.indexOf(' ');
  if (space < 0) return { ref: text as Ref };
  return { ref: text.slice(0, space) as Ref, print: text.slice(space + 1) };
}
