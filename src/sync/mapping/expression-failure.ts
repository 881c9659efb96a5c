// Says in words of the bridge why an expression fails: `toFailure` for an evaluation, `faultInText` for a compilation. JSONata's
// own messages are left out, because they contain attribute values and terms of its parser. The words are chosen by JSONata's error
// code.

/**
 * Limits of one evaluation. Options of JSONata: `timeout` in milliseconds, `stack` nested steps, `sequence` elements of a list.
 * `text`: characters of a text in the result.
 */
export const LIMITS = { timeout: 50, stack: 500, sequence: 10_000, text: 65_536 };

/** Failure of an expression. `exceeded`: a limit was exceeded, so the expression is at fault and not the data. */
export class ExpressionFailed extends Error {
  readonly exceeded: boolean;
  constructor(message: string, { exceeded }: { exceeded: boolean }) {
    super(message);
    this.name = 'ExpressionFailed';
    this.exceeded = exceeded;
  }
}

/** Error that JSONata throws: a plain object in an evaluation, an Error in compilation. */
interface Thrown {
  code?: unknown;
  /** Number of characters up to the place of the error, inclusive. */
  position?: unknown;
  /** Operator or name of a function. */
  token?: unknown;
  /** The expected token in place of `token`. */
  value?: unknown;
  /** Number of an argument, from 1. */
  index?: unknown;
  /** Type that the elements of a list argument should have. */
  type?: unknown;
  message?: unknown;
  /** Inner error of `$eval`. */
  error?: unknown;
}

/** Returns the error of JSONata. The error D3121 of `$eval` contains the error of the text that `$eval` ran, which is returned. */
const thrownOf = (error: unknown): Thrown => {
  const thrown = (error ?? {}) as Thrown;
  return thrown.code === 'D3121' ? thrownOf(thrown.error) : thrown;
};

/** Returns the error code of JSONata; empty for other errors. */
export function codeOf(error: unknown): string {
  const { code } = thrownOf(error);
  return typeof code === 'string' ? code : '';
}

const LONG_LIST = `makes a list of more than ${LIMITS.sequence} elements`;

/** Error codes of JSONata for exceeded limits. */
const EXCEEDED: Record<string, string> = {
  D1011: `calls itself more than ${LIMITS.stack} levels deep`,
  D1012: `takes longer than ${LIMITS.timeout} ms`,
  D2014: LONG_LIST,
  D2015: LONG_LIST,
};

/** Error code of JSONata for a cause in the data → words. `token` is an operator or the name of a function. */
const CAUSES: Record<string, (thrown: Thrown) => string> = {
  T0410: (thrown) => `argument ${argument(thrown)} has the wrong type`,
  T0411: (thrown) => `argument ${argument(thrown)} has the wrong type`,
  T0412: (thrown) => `argument ${argument(thrown)} is no list of ${String(thrown.type)}`,
  D1001: () => 'a number is too large',
  D1002: () => 'the value after - is no number',
  T1003: () => 'the name of a field is no text',
  T1005: ({ token }) => `there is no function ${String(token)}`,
  T1006: ({ token }) => `there is no function ${String(token)}`,
  D1009: () => 'two fields of an object have the same name',
  T2001: ({ token }) => `the value before ${String(token)} is no number`,
  T2002: ({ token }) => `the value after ${String(token)} is no number`,
  T2003: () => 'the value before .. is no whole number',
  T2004: () => 'the value after .. is no whole number',
  T2006: () => 'the value after ~> is no function',
  T2007: () => 'values of different types cannot be ordered',
  T2008: () => 'only numbers and texts can be ordered',
  T2009: ({ token }) => `the values before and after ${String(token)} have different types`,
  T2010: ({ token }) => `a value beside ${String(token)} is neither a number nor a text`,
  D3030: () => 'a value cannot become a number',
  D3060: () => 'a negative number has no square root',
  D3061: () => 'a power is too large',
  D3070: () => '$sort without a comparison takes only texts or only numbers',
  D3110: () => 'a text is no time as ISO 8601 writes it',
  D3120: () => '$eval got a text that is no expression',
  // The words of $error and $assert are those of the settings.
  D3137: ({ message }) => String(message),
  D3138: () => '$single found more than one value',
  D3139: () => '$single found no value',
  D3141: ({ message }) => String(message),
};

/** Returns the place of an argument and the function that got it. */
const argument = ({ index, token }: Thrown): string =>
  `${Number(index)} of ${typeof token === 'string' ? `$${token}` : 'a function'}`;

/** Error codes of compilation → words. */
const FAULTS: Record<string, (thrown: Thrown) => string> = {
  S0101: () => 'a quotation mark is not closed',
  S0102: () => 'a number is too large',
  S0103: () => 'an escape sequence is unknown',
  S0104: () => 'after \\u follow four hexadecimal digits',
  S0105: () => 'a backquote is not closed',
  S0106: () => 'a comment is not closed',
  S0201: ({ token }) => `${quoted(token)} is not expected`,
  S0202: ({ value, token }) => `${quoted(value)} is expected, not ${quoted(token)}`,
  S0203: ({ value }) => `${quoted(value)} is missing at the end`,
  S0204: ({ token }) => `the operator ${quoted(token)} is unknown`,
  S0205: ({ token }) => `${quoted(token)} is not expected`,
  S0207: () => 'the expression ends too early',
  S0211: ({ token }) => `nothing stands before ${quoted(token)}`,
  S0301: () => 'a regular expression is empty',
  S0302: () => 'a regular expression is not closed',
};

const quoted = (text: unknown): string => `"${String(text)}"`;

/** Returns the words for an error code, with the place in the text if it is known. */
function sentenceOf(error: unknown, words: Record<string, (thrown: Thrown) => string>): string {
  const thrown = thrownOf(error);
  const code = codeOf(error);
  const said = words[code]?.(thrown) ?? `JSONata refuses it with the error ${code}`;
  return Number.isInteger(thrown.position) ? `${said}, at character ${Number(thrown.position)}` : said;
}

/** Returns why an evaluation failed; the message has no attribute value. */
export function toFailure(error: unknown): ExpressionFailed {
  if (error instanceof ExpressionFailed) return error;
  const { error: inner } = (error ?? {}) as Thrown;
  if (inner instanceof ExpressionFailed) return inner;
  const code = codeOf(error);
  const exceeded = EXCEEDED[code];
  if (exceeded !== undefined) return new ExpressionFailed(exceeded, { exceeded: true });
  // RangeError: a limit of the JavaScript engine, such as call stack or text length.
  if (error instanceof RangeError)
    return new ExpressionFailed('makes a value that is too large', { exceeded: true });
  if (code !== '') return new ExpressionFailed(sentenceOf(error, CAUSES), { exceeded: false });
  return new ExpressionFailed('a function of the expression failed', { exceeded: false });
}

/** Returns the error for an expression that does not compile. */
export const faultInText = (error: unknown): Error =>
  codeOf(error) === ''
    ? (error as Error)
    : new Error(`The expression is not valid: ${sentenceOf(error, FAULTS)}.`);
