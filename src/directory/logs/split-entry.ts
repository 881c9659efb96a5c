// Splits an entry of a log into the part that its hash chain covers and the personal data, which can be removed later
// (chained-stream.ts), and joins both parts again.
import { hash as digest, randomBytes } from 'node:crypto';

/**
 * An entry as scripts take it: the chained part, which the hash chain covers, and the personal data, which can be removed later;
 * '' when there is none. The chained part has a digest `p` of the personal data with a random salt, so that removed values cannot
 * be guessed.
 */
export type SplitEntry = [chained: string, personal: string];

/** Stored in place of removed personal data, followed by the id of the order to forget. */
const FORGOTTEN = 'forgotten ';

/** Splits an entry. @param names properties of the entry that are personal data */
export function splitEntry(entry: object, names: ReadonlySet<string>): SplitEntry {
  const properties = Object.entries(entry).filter(([, value]) => value !== undefined);
  const personal = properties.filter(([name]) => names.has(name));
  const others = Object.fromEntries(properties.filter(([name]) => !names.has(name)));
  if (personal.length === 0) return [JSON.stringify(others), ''];
  const text = randomBytes(16).toString('base64url') + JSON.stringify(Object.fromEntries(personal));
  return [JSON.stringify({ ...others, p: digestOf(text) }), text];
}

/** Returns the whole entry; without the personal data when it was removed. @param personal stored text; null: none */
export function joinEntry<Entry>(chained: string, personal: string | null): Entry & { forgotten?: true } {
  const { p, ...rest } = JSON.parse(chained) as Record<string, unknown>;
  const entry = rest as Entry & { forgotten?: true };
  if (p === undefined) return entry;
  if (personal === null || isForgotten(personal)) return { ...entry, forgotten: true };
  return { ...entry, ...(JSON.parse(personal.slice(personal.indexOf('{'))) as Partial<Entry>) };
}

export const isForgotten = (personal: string): boolean => personal.startsWith(FORGOTTEN);

/** Returns the id of the order that removed the data; undefined when it was not removed. */
export const orderOf = (personal: string | null): string | undefined =>
  personal?.startsWith(FORGOTTEN) ? personal.slice(FORGOTTEN.length) : undefined;

/** Returns the text that replaces removed personal data. @param order id of the order to forget */
export const forgottenText = (order: string): string => FORGOTTEN + order;

/**
 * Compares an entry with its personal data.
 * @returns `whole`; `forgotten` when an order removed the data; `altered` when the data is missing or does not fit its
 * digest
 */
export function checkPersonal(chained: string, personal: string | null): 'whole' | 'forgotten' | 'altered' {
  const { p } = JSON.parse(chained) as { p?: string };
  if (p === undefined) return 'whole';
  if (personal === null) return 'altered';
  if (isForgotten(personal)) return 'forgotten';
  return digestOf(personal) === p ? 'whole' : 'altered';
}

const digestOf = (text: string): string => digest('sha256', text, 'base64url');
