// Derives the schema of the chart's `config` from the schema of the settings file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Node = Record<string, any>;

const SETTINGS = join(import.meta.dirname, '../../../config/bridge.schema.json');
const REFERENCE = String.raw`\$\{`;

const mapped = (nodes: Node, change: (node: Node) => Node): Node =>
  Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, change(node)]));

/** Returns a node that takes a reference such as `${NAME}` too, because helm sees the file before references are replaced. */
function withReferences(node: Node): Node {
  const { default: _default, enum: choices, pattern, minLength: _minLength, ...rest } = node;
  const changed: Node = { ...rest };
  const types = [node.type].flat();
  const isScalar = types.some((type) => ['string', 'integer', 'number', 'boolean'].includes(type));
  if (isScalar && !types.includes('string')) changed.pattern = REFERENCE;
  if (isScalar && !types.includes('string')) changed.type = [...types, 'string'];
  if (pattern) changed.pattern = `(${pattern})|${REFERENCE}`;
  if (choices) changed.pattern = `^(${choices.filter((choice: unknown) => choice !== null).join('|')})$|${REFERENCE}`;
  for (const key of ['properties', 'patternProperties']) {
    if (node[key]) changed[key] = mapped(node[key], withReferences);
  }
  for (const key of ['items', 'additionalProperties']) {
    if (typeof node[key] === 'object') changed[key] = withReferences(node[key]);
  }
  return changed;
}

/** Returns the schema for `config` in values.schema.json. */
export function settingsSchema(): Node {
  const { $schema: _schema, title: _title, ...settings } = JSON.parse(readFileSync(SETTINGS, 'utf8'));
  const schema = withReferences(settings);
  for (const name of ['connections', 'targets']) schema.properties[name].minProperties = 1;
  return {
    ...schema,
    description: 'The settings file of the bridge, key by key.',
    required: ['redis', 'connections', 'targets'],
  };
}
