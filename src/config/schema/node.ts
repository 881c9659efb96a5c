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

/** Names of connections, tokens and targets: they appear in addresses, Redis keys and metric labels. */
export const NAME_PATTERN = '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$';

/** Names of attributes at the platform. */
export const ATTRIBUTE_PATTERN = '^[A-Za-z_][A-Za-z0-9_]*$';

/** Returns a section with fixed keys. If it is left out, it gets the defaults of its keys. */
export function section(
  description: string,
  properties: Record<string, SchemaNode>,
  required: string[] = [],
): SchemaNode {
  const node: SchemaNode = { type: 'object', description, properties, additionalProperties: false };
  // A section with required keys cannot be filled by defaults, so it has none itself.
  return required.length > 0 ? { ...node, required } : { ...node, default: {} };
}

/** Returns a map from names that the operator chooses to sections. */
export function named(
  description: string,
  pattern: string,
  entry: SchemaNode,
  fallback: unknown,
): SchemaNode {
  const patternProperties = { [pattern]: entry };
  return { type: 'object', description, default: fallback, patternProperties, additionalProperties: false };
}

/** Returns a list; its default is empty unless given. */
export function list(description: string, items: SchemaNode, fallback: readonly unknown[] = []): SchemaNode {
  return { type: 'array', description, default: fallback, items };
}

/** Returns a choice of words; the first one is the default unless another one is given. */
export function choice(description: string, words: readonly string[], fallback = words[0]): SchemaNode {
  return { type: 'string', description, enum: words, default: fallback };
}

/** Returns a whole number within limits. */
export function whole(description: string, fallback: number, minimum: number, maximum: number): SchemaNode {
  return { type: 'integer', description, default: fallback, minimum, maximum };
}

/** Returns text that may be null, which is its default. */
export function optionalText(description: string): SchemaNode {
  return { type: ['string', 'null'], description, default: null };
}

/** Returns the section with null as a further value and as its default. */
export const optionalSection = (node: SchemaNode): SchemaNode => ({
  ...node,
  type: ['object', 'null'],
  default: null,
});

/** Returns a switch, which is off by default. */
export function flag(description: string): SchemaNode {
  return { type: 'boolean', description, default: false };
}

/** Returns text without a default; the section lists it as required. */
export function text(description: string): SchemaNode {
  return { type: 'string', description };
}
