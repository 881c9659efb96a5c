import { configWarnings } from '../../../src/config/warnings.ts';
import { fileWith, loadText } from './settings-folder.ts';

const warningsOf = (rest: string): string[] =>
  configWarnings(loadText(fileWith('', rest))).map(({ path }) => path);

test('the default settings give no warning', () => {
  expect(warningsOf('')).toEqual([]);
});

test.each([
  ['https://scim.example.com', []],
  ['http://localhost:8080', []],
  ['http://scim.example.com', ['/server/publicUrl']],
])('warning about publicUrl: %s', (url, paths) => {
  expect(warningsOf(`server: { publicUrl: '${url}' }`)).toEqual(paths);
});

const URL_PATH = ['/redis/url'];
test.each([
  ['url: redis://127.0.0.1:6379', []],
  ['url: redis://localhost', []],
  ['url: "redis://[::1]:6379"', []],
  ['url: redis://redis:6379', URL_PATH],
  ['url: "redis://[2001:db8::1]:6379"', URL_PATH],
  ['url: rediss://redis.example.com', URL_PATH],
  ['url: redis://user:secret@redis.example.com', []],
  ['url: "redis+sentinel://127.0.0.1:1,10.0.0.1:2/main"', URL_PATH],
  ['cluster: ["redis://10.0.0.1:6379"]', ['/redis/cluster']],
])('warning about redis: %s', (text, paths) => {
  expect(warningsOf(`redis: { ${text} }`)).toEqual(paths);
});
