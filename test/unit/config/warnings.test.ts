// Tests the warnings about settings that are valid but risky.
import { configWarnings } from '../../../src/config/warnings.ts';
import { fileWith, KEY, loadText } from './settings-folder.ts';

const warningsOf = (rest: string): string[] =>
  configWarnings(loadText(fileWith('', rest))).map(({ path }) => path);

test('the default settings give no warning', () => {
  expect(warningsOf('')).toEqual([]);
});

test('TLS without verification of certificates gives a warning', () => {
  const config = loadText(fileWith('', ''));
  expect(configWarnings(config, { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatchObject([
    { path: 'NODE_TLS_REJECT_UNAUTHORIZED' },
  ]);
  expect(configWarnings(config, { NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
});

test('the setting of two approvers without a sign-in gives a warning at guard.approvers', () => {
  const warned = configWarnings(loadText(fileWith('guard: { approvers: 2 }')));
  expect(warned).toMatchObject([{ path: '/targets/main/guard/approvers' }]);
});

test.each([
  ['https://acme.example.com', true],
  ['https://ACME.example.com:443/', true],
  ['https://acme.example.com/second', false],
  ['https://second.example.com', false],
])('whether a second target with the url %s gives a warning at its url: %s', (url, isWarned) => {
  const warned = configWarnings(loadText(fileWith('', `  second: { url: '${url}', token: ${KEY}-2 }`)));
  const message = 'several targets have the same address: main, second';
  expect(warned).toMatchObject(isWarned ? [{ path: '/targets/second/url', message }] : []);
});

test.each([
  ['https://scim.example.com', []],
  ['http://localhost:8080', []],
  ['http://scim.example.com', ['/server/publicUrl']],
])('publicUrl %s gives warnings at the paths %j', (url, paths) => {
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
])('the Redis settings %s give warnings at the paths %j', (text, paths) => {
  expect(warningsOf(`redis: { ${text} }`)).toEqual(paths);
});
