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

// Character codes.
const QUOTE = 34;
const BACKSLASH = 92;
/** ( ) [ ] */
const BRACKETS = new Set([40, 41, 91, 93]);

/** A blank, or a control character from tab to carriage return. */
function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isDelimiter(code: number): boolean {
  return code === QUOTE || BRACKETS.has(code) || isSpace(code);
}

function quoted(text: string, at: number): Token {
  let index = at + 1;
  let escaped = false;
  for (; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) break;
    if (code !== BACKSLASH) continue;
    escaped = true;
    index++;
  }
  if (index >= text.length) throw invalidFilter(`The quoted value at position ${at} does not end.`);
  const raw = text.slice(at + 1, index);
  return { kind: 'quoted', text: escaped ? unescape(raw, at) : raw, at, end: index + 1 };
}

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

/**
 * Reads a value in single quotes. The closing quote is the first one before a delimiter, so `'O'Brien'` is one value.
 * Undefined when there is no closing quote: then the opening one is an ordinary character.
 */
function singleQuoted(text: string, at: number): Token | undefined {
  for (let end = text.indexOf("'", at + 1); end > 0; end = text.indexOf("'", end + 1)) {
    if (end + 1 === text.length || isDelimiter(text.charCodeAt(end + 1)))
      return { kind: 'quoted', text: text.slice(at + 1, end), at, end: end + 1, single: true };
  }
  return undefined;
}

function scan(text: string, from: number): Token {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  const character = text[at];
  if (character === undefined) return { kind: 'end', text: '', at, end: at };
  if (character === '"') return quoted(text, at);
  if (character === '(' || character === ')' || character === '[' || character === ']') {
    return { kind: character, text: character, at, end: at + 1 };
  }
  const single = character === "'" ? singleQuoted(text, at) : undefined;
  if (single) return single;
  let end = at + 1;
  while (end < text.length && !isDelimiter(text.charCodeAt(end))) end++;
  return { kind: 'word', text: text.slice(at, end), at, end };
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
