// Defines attribute characteristics as data (RFC 7643 §7), and makes the lookups without regard to case from them.

export type AttributeType =
  'string' | 'boolean' | 'decimal' | 'integer' | 'dateTime' | 'binary' | 'reference' | 'complex';
type Mutability = 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';
type Returned = 'always' | 'never' | 'default' | 'request';
type Uniqueness = 'none' | 'server' | 'global';

/** One attribute definition: the characteristics that `/Schemas` shows, and `announced`. */
export interface Attribute {
  readonly name: string;
  readonly type: AttributeType;
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: Mutability;
  readonly returned: Returned;
  readonly uniqueness: Uniqueness;
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
  /** False: requests and filters may use the attribute, but schema documents and answers leave it out. */
  readonly announced?: false;
}

export interface Schema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
  /**
   * True for the schema of an open extension, in which a resource may also have attributes that the schema does not declare. Their
   * values are scalars or arrays of scalars. These undeclared attributes are called members; their names are case-sensitive.
   */
  readonly open?: boolean;
}

/** Creates a definition with the default characteristics of RFC 7643 §2.2. */
export function attribute(
  name: string,
  description: string,
  characteristics: Partial<Omit<Attribute, 'name' | 'description'>> = {},
): Attribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...characteristics,
  };
}

/** An attribute definition with precomputed lookups for reading, filtering and PATCH. */
export interface Field {
  readonly attribute: Attribute;
  readonly name: string;
  /** Full path: `name.givenName`, `urn:…:User:manager.value`. */
  readonly path: string;
  /** Position among its siblings in the schema, from 0. */
  readonly place: number;
  /** Whether a string from a client is stored unchanged; the validator (constraints.ts) may still refuse the string. */
  readonly keepsText: boolean;
  /** Whether the value refers to another resource. With the deviation `reference-for-value` a client may send only `$ref`. */
  readonly isReference: boolean;
  /** Sub-attributes; for a simple multi-valued attribute the implied `value` (RFC 7643 §2.4). */
  readonly parts: Fields | undefined;
}

export interface Fields {
  /** In schema order. */
  readonly list: readonly Field[];
  /** By exact name and by lower-case name; see `findField`. */
  readonly byName: ReadonlyMap<string, Field>;
}

/** One schema within a resource type: the core schema, or an extension. */
export interface Section {
  readonly schema: Schema;
  readonly urn: string;
  /** The URN in lower case. */
  readonly key: string;
  /** Whether this is the core schema, not an extension. */
  readonly core: boolean;
  /** Whether every resource must have this extension. */
  readonly required: boolean;
  /**
   * Names of single-valued simple attributes that no sub-attribute has. A key of this kind occurs once in the stored text before
   * the extensions, so a Lua script can replace its value without parsing (plain-values.ts).
   */
  readonly plain: ReadonlySet<string>;
  readonly fields: Fields;
}

/** Compiles attribute definitions. `prefix` is the part of `Field.path` before the name. */
export function toFields(attributes: readonly Attribute[], prefix: string): Fields {
  const list = attributes.map((definition, place) => toField(definition, prefix, place));
  const byName = new Map<string, Field>();
  for (const field of list) byName.set(field.name, field);
  for (const field of list) {
    const key = field.name.toLowerCase();
    if (!byName.has(key)) byName.set(key, field);
  }
  return { list, byName };
}

function toField(definition: Attribute, prefix: string, place: number): Field {
  const { name, type, multiValued } = definition;
  const path = prefix + name;
  const isText = type === 'string' || type === 'reference' || type === 'binary';
  // An empty externalId counts as no externalId.
  const keepsText = isText && !multiValued && path !== 'externalId';
  const parts = toParts(definition, path);
  const isReference = parts?.byName.has('$ref') ?? false;
  return { attribute: definition, name, path, place, keepsText, isReference, parts };
}

function toParts(definition: Attribute, path: string): Fields | undefined {
  if (definition.type === 'complex') return toFields(definition.subAttributes ?? [], `${path}.`);
  if (!definition.multiValued) return undefined;
  return toFields([{ ...definition, name: 'value', multiValued: false }], `${path}.`);
}

/** Returns the names for `Section.plain`. */
export function plainNames({ list }: Fields): ReadonlySet<string> {
  const plain = list.filter(
    ({ name, attribute }) =>
      attribute.type !== 'complex' &&
      !attribute.multiValued &&
      !list.some(({ parts }) => parts?.byName.has(name)),
  );
  return new Set(plain.map(({ name }) => name));
}
