// Writes docs/settings-reference.md (`npm run settings-page`) from the JSON Schema of the settings.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';

const SCHEMA = 'config/bridge.schema.json';
const PAGE = 'docs/settings-reference.md';
const INTRODUCTION = `# Settings by key

Written by \`npm run settings-page\` from [config/bridge.schema.json](../${SCHEMA}). How settings are read and what they are for: [settings](settings.md).
`;

const isTree = (schema) => schema.properties !== undefined || schema.patternProperties !== undefined;
const typeOf = ({ type, enum: values, items, anyOf, oneOf, const: value }) => {
  if (values) return values.map((each) => `\`${each}\``).join(', ');
  if (value !== undefined) return `\`${value}\``;
  if (anyOf ?? oneOf) return [...new Set((anyOf ?? oneOf).map(typeOf))].join(' or ');
  const name = [type].flat().filter(Boolean).join(' or ');
  return items && name.includes('array') ? name.replace('array', `list of ${typeOf(items)}`) : name;
};

/** Returns one list item for each setting below a path. */
function* rows(path, schema) {
  for (const [name, part] of Object.entries(schema.properties ?? {})) yield* rows(`${path}.${name}`, part);
  for (const part of Object.values(schema.patternProperties ?? {})) yield* rows(`${path}.<name>`, part);
  if (schema.items && isTree(schema.items)) yield* rows(`${path}[]`, schema.items);
  if (isTree(schema) || (schema.items && isTree(schema.items))) return;
  const fallback = schema.default === undefined ? '' : `, default \`${JSON.stringify(schema.default)}\``;
  yield `- \`${path}\` (${typeOf(schema)}${fallback}): ${schema.description ?? ''}`.trimEnd();
}

/** Returns the page as Markdown. */
export function settingsPage(schema) {
  const sections = Object.entries(schema.properties).map(
    ([name, part]) => `## ${name}\n\n${part.description ?? ''}\n\n${[...rows(name, part)].join('\n')}\n`,
  );
  return [INTRODUCTION, ...sections].join('\n');
}

if (process.argv[1]?.endsWith('settings-page.mjs')) {
  writeFileSync(PAGE, settingsPage(JSON.parse(readFileSync(SCHEMA, 'utf8'))));
}
