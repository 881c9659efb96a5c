// Tests that the named schemas of the admin API describe every field that they require, and refuse a field that they lack.
import { SCHEMAS } from '../../../src/http/admin/schemas.ts';
import { checkCommandJson } from '../../support/answer-schemas.ts';

/** Returns `path.name` of each required field without a description, in a schema and all its parts. */
function undescribed(schema: any, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, required = [] } = schema;
  const missing = properties ? required.filter((name: string) => !(name in properties)) : [];
  return [
    ...missing.map((name: string) => `${path}.${name}`),
    ...Object.entries(schema).flatMap(([name, part]) => undescribed(part, `${path}.${name}`)),
  ];
}

test('every named schema of the admin API describes each field that it requires', () => {
  expect(undescribed(SCHEMAS, 'schemas')).toEqual([]);
});

test('checkCommandJson refuses the JSON of a command with a field that its schema lacks', () => {
  const finding = { area: 'redis', level: 'ok', message: 'answers', advice: null };
  expect(() => checkCommandJson(['doctor', '--json'], [[finding]])).not.toThrow();
  expect(() => checkCommandJson(['doctor', '--json'], [[{ ...finding, extra: 1 }]])).toThrow(
    'doctor is not as described: /0 must NOT have additional properties extra',
  );
  const act = { id: '1-1', at: '', connection: 'hr', act: 'hold', by: 'ann', via: 'command' };
  expect(() => checkCommandJson(['acts', '--json'], [act, { ...act, extra: 1 }])).toThrow('extra');
});
