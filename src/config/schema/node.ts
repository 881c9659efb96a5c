// Defines the subset of JSON Schema (draft-07) that describes the settings, and functions that create its nodes.

/** One node of the settings schema. Every key of an object has a description and, unless it is required, a default. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly minItems?: number;
  readonly items?: SchemaNode;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A node whose valid values, after the defaults are filled in, have the type T. */
export interface NodeOf<T> extends SchemaNode {
  /** Never set: it carries T for the compiler. */
  readonly valueType?: T;
}

/** The type of the valid values of a node. */
export type ValueOf<Node> = Node extends NodeOf<infer T> ? T : never;

/** Names of connections, tokens and targets: they appear in addresses, Redis keys and metric labels. */
export const NAME_PATTERN = '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$';

/** Names of attributes at the platform. */
export const ATTRIBUTE_PATTERN = '^[A-Za-z_][A-Za-z0-9_]*$';

/** Returns a node that the functions below cannot describe; its values have the type T. */
export const nodeOf = <T>(node: SchemaNode): NodeOf<T> => node;

/** Returns a section with fixed keys. If it is left out, it gets the defaults of its keys. */
export function section<P extends Readonly<Record<string, SchemaNode>>>(
  description: string,
  properties: P,
  required: string[] = [],
): NodeOf<{ [Key in keyof P]: ValueOf<P[Key]> }> {
  const node: SchemaNode = { type: 'object', description, properties, additionalProperties: false };
  // A section with required keys cannot be filled by defaults, so it has none itself.
  return required.length > 0 ? { ...node, required } : { ...node, default: {} };
}

/** Returns a map of sections by names that the operator chooses. @param pattern regular expression of the names */
export function named<T>(
  description: string,
  pattern: string,
  entry: NodeOf<T>,
  fallback: unknown,
): NodeOf<Record<string, T>> {
  const patternProperties = { [pattern]: entry };
  return { type: 'object', description, default: fallback, patternProperties, additionalProperties: false };
}

/** Returns a list; its default is empty unless given. */
export const list = <T>(
  description: string,
  items: NodeOf<T>,
  fallback: readonly unknown[] = [],
): NodeOf<T[]> => ({ type: 'array', description, default: fallback, items });

/** Returns a choice of words; the first one is the default unless another one is given. */
export const choice = <const Word extends string>(
  description: string,
  words: readonly Word[],
  fallback: string | undefined = words[0],
): NodeOf<Word> => ({ type: 'string', description, enum: words, default: fallback });

/** Returns a whole number within limits. */
export const whole = (
  description: string,
  fallback: number,
  minimum: number,
  maximum: number,
): NodeOf<number> => ({ type: 'integer', description, default: fallback, minimum, maximum });

/** Returns text with a default. */
export const usualText = (description: string, fallback: string, more: SchemaNode = {}): NodeOf<string> => ({
  type: 'string',
  description,
  default: fallback,
  ...more,
});

/** Returns text that may be null, which is its default. */
export const optionalText = (description: string): NodeOf<string | null> => ({
  type: ['string', 'null'],
  description,
  default: null,
});

/** Returns a whole number that may be null, which is its default. */
export const optionalWhole = (
  description: string,
  minimum: number,
  maximum: number,
): NodeOf<number | null> => ({ type: ['integer', 'null'], description, default: null, minimum, maximum });

/** Returns the section with null as a further value and as its default. */
export const optionalSection = <T>(node: NodeOf<T>): NodeOf<T | null> => ({
  ...(node as SchemaNode),
  type: ['object', 'null'],
  default: null,
});

/** Returns a switch, which is off by default. */
export const flag = (description: string): NodeOf<boolean> => ({
  type: 'boolean',
  description,
  default: false,
});

/** Returns text without a default; the section lists it as required. */
export const text = (description: string, more: SchemaNode = {}): NodeOf<string> => ({
  type: 'string',
  description,
  ...more,
});

/** Items of lists of text. */
export const TEXT: NodeOf<string> = { type: 'string' };
export const NON_EMPTY: NodeOf<string> = { type: 'string', minLength: 1 };
