// Writes constants (NULL, booleans, numbers, texts) and the types of casts from DuckDB's syntax tree (syntax.ts) as SQL; others
// are refused.
import { own } from '../../json.ts';
import { nodeAt, notSupported, textAt, type Node } from './syntax.ts';
import { quoteText } from './writing.ts';

const INTEGERS = new Set(['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT']);
const TYPES: ReadonlySet<string> = new Set(
  'BOOLEAN TINYINT SMALLINT INTEGER BIGINT FLOAT DOUBLE VARCHAR DATE TIME TIMESTAMP INTERVAL'.split(' '),
);
/** Longest text constant in characters; it bounds the texts that a query can build. */
const MAX_TEXT = 1000;

/** Returns a text constant, or undefined for any other node. */
export function constantText(node: Node): string | undefined {
  if (textAt(node, 'class') !== 'CONSTANT') return undefined;
  const value = own(nodeAt(node, 'value'), 'value');
  return typeof value === 'string' ? value : undefined;
}

/** Returns a constant whole number of at least 0, or undefined. */
export function constantCount(node: Node): number | undefined {
  if (textAt(node, 'class') !== 'CONSTANT') return undefined;
  const constant = nodeAt(node, 'value');
  // The type is checked, because 1.5 is a DECIMAL with the value 15 and scale 1.
  if (!INTEGERS.has(textAt(nodeAt(constant, 'type'), 'id'))) return undefined;
  const value = own(constant, 'value');
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Formats a decimal: `15` with scale 1 is `1.5`. */
function decimal(value: number, scale: number): string {
  const digits = String(Math.abs(value)).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${value < 0 ? '-' : ''}${whole}${scale > 0 ? `.${digits.slice(-scale)}` : ''}`;
}

/**
 * Returns a constant as a literal.
 * @throws `notSupported` for a long text, a number that JSON cannot represent exactly, and another type
 */
export function writeConstant(node: Node): string {
  const constant = nodeAt(node, 'value');
  const type = nodeAt(constant, 'type');
  const id = textAt(type, 'id');
  const value = own(constant, 'value');
  if (own(constant, 'is_null') === true) return 'NULL';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'string' && id === 'VARCHAR') {
    if (value.length > MAX_TEXT) throw notSupported(`a text of more than ${MAX_TEXT} characters`);
    return quoteText(value);
  }
  if (typeof value === 'number' && INTEGERS.has(id) && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'number' && id === 'DOUBLE' && Number.isFinite(value)) {
    // Quoted, because DuckDB takes a bare `1.5` for a DECIMAL.
    return `CAST('${value}' AS DOUBLE)`;
  }
  if (typeof value === 'number' && id === 'DECIMAL' && Number.isSafeInteger(value)) {
    const scale = own(nodeAt(type, 'type_info'), 'scale');
    // 38 digits are the longest DECIMAL of DuckDB.
    if (typeof scale === 'number' && scale >= 0 && scale <= 38) return decimal(value, scale);
  }
  throw notSupported(`a constant of type ${id}`);
}

/** Returns the name of an allowed target type of a cast. @throws `notSupported` for another one */
export function writeType(type: Node): string {
  const id = textAt(type, 'id');
  // Times of the model have no zone, so a cast to a time with a zone becomes one without.
  if (id === 'TIMESTAMP WITH TIME ZONE') return 'TIMESTAMP';
  if (id === 'DECIMAL') {
    const info = nodeAt(type, 'type_info');
    const width = own(info, 'width');
    const scale = own(info, 'scale');
    if (Number.isInteger(width) && Number.isInteger(scale))
      return `DECIMAL(${Number(width)}, ${Number(scale)})`;
  }
  // DuckDB gives the id UNBOUND to a type that it does not know by name.
  if (!TYPES.has(id)) throw notSupported(`the type ${id === 'UNBOUND' ? 'of this name' : id}`);
  return id;
}
