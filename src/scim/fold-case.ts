/**
 * The form in which text is compared where `caseExact` is false: composed characters (NFC), lower case. Uniqueness and
 * filters use the same one; else a name could be taken and not be found.
 */
export const foldCase = (text: string): string => text.normalize('NFC').toLowerCase();
