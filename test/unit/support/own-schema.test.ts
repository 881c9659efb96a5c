// Tests that the JSON Schemas of the project are valid by the meta-schema, which ajv does not check at run time.
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { publishedSchema, settingsSchema } from '../../../src/config/schema.ts';
import { adminRoutes } from '../../../src/http/admin/admin.ts';
import { openApiDocument } from '../../../src/http/admin/openapi.ts';
import type { AdminContext } from '../../../src/http/admin/route.ts';
import { toJsonSchema } from '../../../src/scim/constraints.ts';
import { groupResourceType, userResourceType } from '../../../src/scim/resource-type.ts';

const TYPES = ['string', 'number', 'boolean', 'string_array', 'number_array'] as const;

test('the schema of the settings is a valid JSON Schema', () => {
  const ajv = new Ajv();
  for (const schema of [settingsSchema, publishedSchema()]) {
    void ajv.validateSchema(schema);
    expect(ajv.errors ?? []).toEqual([]);
  }
});

test('the schemas of users and groups are valid JSON Schemas, with user attributes of every type', () => {
  const ajv = new Ajv();
  const userAttributes = TYPES.map((type) => ({ name: type, type }));
  for (const { core, sections } of [userResourceType({ userAttributes }), groupResourceType()]) {
    void ajv.validateSchema(toJsonSchema(core, sections));
    expect(ajv.errors ?? []).toEqual([]);
  }
});

test('the schemas of the bodies, the queries and the answers of the admin API are valid JSON Schemas', () => {
  const ajv = new Ajv2020();
  const routes = adminRoutes({} as AdminContext);
  const document = openApiDocument(routes) as { components: { schemas: Record<string, object> } };
  const schemas = [
    ...Object.values(document.components.schemas),
    ...routes.flatMap(({ answers, body, query = {} }) => [
      ...(answers.schema ? [answers.schema] : []),
      ...(body ? [body] : []),
      ...Object.values(query).map(({ schema }) => schema),
    ]),
  ];
  expect(schemas.length).toBeGreaterThan(100);
  for (const schema of schemas) {
    void ajv.validateSchema(schema);
    expect(ajv.errors ?? []).toEqual([]);
  }
});
