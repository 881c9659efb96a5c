// Writes docs/admin-api.md (`npm run admin-api-page`) from the OpenAPI document of the admin API.
import { writeFileSync } from 'node:fs';
import process from 'node:process';

const PAGE = 'docs/admin-api.md';
const INTRODUCTION = `# Admin API by address

Written by \`npm run admin-api-page\` from the OpenAPI document, which a bridge serves at \`/admin/v1/openapi.json\`. How the API is opened and called: [admin API](api.md). All addresses are below \`/admin/v1\`. Fields with \`?\` may be absent.
`;
/** Statuses with which every address may refuse; the page describes them once. */
const ALWAYS = ['400', '401', '403', '429', '500', '503'];
const REF = '#/components/schemas/';

/** Returns a type in a few words, with a link to a schema that has a name. */
function typeOf({ $ref, type, enum: values, items, oneOf, const: value, format, properties }) {
  if ($ref) return `[${$ref.slice(REF.length)}](#${$ref.slice(REF.length).toLowerCase()})`;
  if (values) return values.map((each) => (each === null ? 'null' : `\`${each}\``)).join(' or ');
  if (value !== undefined) return `\`${value}\``;
  if (oneOf) return [...new Set(oneOf.map(typeOf))].join(' or ');
  if (items) return `list of ${typeOf(items)}`;
  if (properties && Object.keys(properties).length === 0) return 'object';
  return [format ?? type ?? 'any value'].flat().join(' or ');
}

/** Returns the object that a schema describes: itself, its items, or what it is when it is not null. */
const objectOf = (schema) => schema.items ?? schema.oneOf?.find(({ properties }) => properties) ?? schema;

/** Returns one list item for each property, and below it those of objects without a name. */
function fields(schema, indent = '') {
  const { properties = {}, required = [] } = objectOf(schema);
  return Object.entries(properties).flatMap(([name, part]) => {
    const mark = required.includes(name) ? '' : '?';
    const said = part.description ? `: ${part.description}` : '';
    return [`${indent}- \`${name}${mark}\` (${typeOf(part)})${said}`, ...fields(part, `${indent}  `)];
  });
}

function parametersOf({ parameters }) {
  return parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `- \`${name}${required ? '' : '?'}\` (${place === 'path' ? 'in the path' : 'query'}, ${typeOf(schema)}): ${description}`,
  );
}

function answerOf(responses) {
  const [status, { description, content }] = Object.entries(responses).find(([code]) => code.startsWith('2'));
  const [contentType, { schema } = {}] = Object.entries(content ?? {})[0] ?? [];
  const type = schema
    ? ` (${contentType === 'application/json' ? '' : `${contentType}, `}${typeOf(schema)})`
    : '';
  return [`Answers ${status}${type}: ${description}`, schema ? fields(schema) : []];
}

const list = (lines) => (lines.length === 0 ? [] : [lines.join('\n')]);

function section(method, path, operation) {
  const body = operation.requestBody;
  const schema = body?.content['application/json'].schema;
  const [answer, parts] = answerOf(operation.responses);
  const refusals = Object.entries(operation.responses)
    .filter(([code]) => !code.startsWith('2') && !ALWAYS.includes(code))
    .map(([code, { description }]) => `- ${code}: ${description}`);
  return [
    `## ${method.toUpperCase()} ${path}`,
    operation.summary,
    operation.description,
    ...list(parametersOf(operation)),
    ...(schema
      ? [`Body${body.required ? '' : ', which may be left out'}${schema.$ref ? ` (${typeOf(schema)})` : ''}:`]
      : []),
    ...list(schema ? fields(schema) : []),
    answer,
    ...list(parts),
    ...(refusals.length > 0 ? ['Refuses also with:', ...list(refusals)] : []),
  ].join('\n\n');
}

/** Returns the page as Markdown. */
export function adminApiPage({ paths, components }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method, path, operation]),
  );
  // Every operation describes the statuses of ALWAYS, so the first one serves for all.
  const [[, , { responses }]] = operations;
  const always = ALWAYS.map((code) => `- ${code}: ${responses[code].description}`).join('\n');
  const schemas = Object.entries(components.schemas).map(([name, schema]) =>
    [`### ${name}`, ...(schema.description ? [schema.description] : []), ...list(fields(schema))].join(
      '\n\n',
    ),
  );
  return `${[
    INTRODUCTION.trimEnd(),
    `Every address may refuse with a [Problem](#problem):`,
    always,
    ...operations.map((operation) => section(...operation)),
    '## Schemas',
    ...schemas,
  ].join('\n\n')}\n`;
}

if (process.argv[1]?.endsWith('admin-api-page.mjs')) {
  const { adminRoutes } = await import('../dist/http/admin/admin.js');
  const { openApiDocument } = await import('../dist/http/admin/openapi.js');
  // Routes read their context only when they are called.
  writeFileSync(PAGE, adminApiPage(openApiDocument(adminRoutes({}))));
}
