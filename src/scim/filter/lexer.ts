// Splits a filter into tokens with their positions (RFC 7644 §3.4.2.2). A quoted value is one token, so the parser never
// splits text at dots, colons or the word "and".
import { invalidFilter } from '../errors.ts';

/** `at`: position of the token's first character in the filter, from 0. `end`: position behind its last character. */
export type Token =
  | {
      readonly kind: '(' | ')' | '[' | ']' | 'end';
      readonly text: string;
      readonly at: number;
      readonly end: number;
    }
  /** Attribute, operator, keyword, or an unquoted value. */
  | { readonly kind: 'word'; readonly text: string; readonly at: number; readonly end: number }
  /** A quoted value; `text` is unescaped. `single`: it was in single quotes, which know no escapes. */
  | {
      readonly kind: 'quoted';
      readonly text: string;
      readonly at: number;
      readonly end: number;
      readonly single?: true;
    };

export interface Lexer {
  peek(): Token;
  next(): Token;
  /** The position after the last token taken. */
  position(): number;
}

/**
 * One token and the blanks before it: a bracket, a quoted value, a word, or the end. A word ends before a blank, a control
 * character from tab to carriage return, a bracket or a double quote. A value in single quotes ends at the first single quote that
 * stands before such a character or at the end, so `'O'Brien'` is one value. A single quote without a closing one is an ordinary
 * character of a word.
 */
const TOKEN =
  /(?<blanks>[\t-\r ]*)(?:(?<bracket>[()[\]])|"(?<quoted>(?:[^"\\]|\\[^])*)"|'(?<single>[^]*?)'(?=[\t-\r "()[\]]|$)|(?<word>[^\t-\r "()[\]]+)|$)/y;

// Unescapes by the rules of JSON strings, and accepts raw control characters, because clients send them.
function unescape(raw: string, at: number): string {
  let json = '"';
  for (const character of raw) {
    const code = character.charCodeAt(0);
    json += code < 32 ? `\\u${code.toString(16).padStart(4, '0')}` : character;
  }
  try {
    return JSON.parse(`${json}"`) as string;
  } catch {
    throw invalidFilter(`The quoted value at position ${at} has an escape that JSON does not know.`);
  }
}

function scan(text: string, from: number): Token {
  TOKEN.lastIndex = from;
  const { groups } = TOKEN.exec(text) ?? {};
  if (!groups) throw invalidFilter(`The quoted value at position ${text.indexOf('"', from)} does not end.`);
  const { blanks = '', bracket, quoted, single, word } = groups;
  const place = { at: from + blanks.length, end: TOKEN.lastIndex };
  if (bracket !== undefined) return { kind: bracket as '(' | ')' | '[' | ']', text: bracket, ...place };
  if (single !== undefined) return { kind: 'quoted', text: single, ...place, single: true };
  if (word !== undefined) return { kind: 'word', text: word, ...place };
  if (quoted === undefined) return { kind: 'end', text: '', ...place };
  return { kind: 'quoted', text: quoted.includes('\\') ? unescape(quoted, place.at) : quoted, ...place };
}

/**
 * Creates a lexer with one token of look-ahead. Its `peek` and `next` throw 400 invalidFilter for a quoted value without a closing
 * quote or with an unknown escape.
 */
export function createLexer(text: string, start = 0): Lexer {
  let ahead: Token | undefined;
  let position = start;
  const peek = (): Token => (ahead ??= scan(text, position));
  return {
    peek,
    next() {
      const token = peek();
      ahead = undefined;
      position = token.end;
      return token;
    },
    position: () => position,
  };
}
