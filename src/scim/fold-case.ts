/**
 * The form in which text is compared where `caseExact` is false: composed characters (NFC), lower case. Uniqueness and
 * filters use the same one; else a name could be taken and not be found.
 */
export const foldCase = (text: string): string =>
  (BEYOND_ASCII.test(text) ? text.normalize('NFC') : text).toLowerCase();

/** Only such characters can be composed in several ways, and few names have any. */
const BEYOND_ASCII = /[^\0-\x7f]/;
