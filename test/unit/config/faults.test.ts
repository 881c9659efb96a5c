// Tests that each fault of the settings is reported once, with its path and advice.
import { errorOf, faultsOf, fileWith, folderWith, KEY, loadText, SECRET } from './settings-folder.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { FAULTS } from './fault-cases.ts';
import { NOTICE_FAULTS } from './notice-fault-cases.ts';

test.each([...FAULTS, ...NOTICE_FAULTS])(
  'settings with one mistake give one fault with path and advice: %s',
  (_what, file, path, message) => {
    expect(faultsOf(file)).toEqual([{ path, message: expect.stringMatching(message) }]);
  },
);

test('settings in which two connections share a secret are refused', () => {
  const tokens = `tokens: [{ name: a, secret: ${SECRET} }]`;
  const text = `connections: { a: { ${tokens} }, b: { ${tokens} } }\ntargets: { main: { url: 'https://a.example', token: ${KEY} } }`;
  expect(faultsOf(text)).toEqual([
    {
      path: '/connections/b/tokens/0/secret',
      message: expect.stringMatching(/\/connections\/a\/tokens\/0\/secret/),
    },
  ]);
});

test('faults of the schema, of values and of references are reported together', () => {
  const text = `
server: { port: -1 }
redis: { cluster: ['redis://10.0.0.1/2'] }
connections: { default: { tokens: [{ name: primary, secret: short }], targets: [gone] } }
targets:
  main: { url: 'http://far.example', token: '\${NOT_SET}', groups: { include: ['('] } }
  other: []`;
  expect(
    faultsOf(text)
      .map((fault) => fault.path)
      .sort(),
  ).toEqual([
    '/connections/default/targets/0',
    '/connections/default/tokens/0/secret',
    '/redis/cluster/0',
    '/server/port',
    '/targets/main/groups/include/0',
    '/targets/main/token',
    '/targets/main/url',
    '/targets/other',
  ]);
});

describe('YAML that does not parse', () => {
  const SYNTAX: [what: string, text: string, message: RegExp][] = [
    ['an open bracket', 'server: { port: 1\nredis: {}\n', /line 2, column 1/],
    ['a key twice', 'server:\n  port: 1\n  port: 2\n', /line 3, column 3: This key appears twice/],
    ['a tab', 'server:\n\tport: 1\n', /line 2, column 1: Tabs/],
    ['a tag', 'server: !secret abc\n', /line 1, column 9: Tags/],
    ['an unknown alias', 'server: *nowhere\n', /line 1, column 9: An alias/],
    ['no mapping', '- a\n', /must hold a mapping/],
    ['an error behind a reference', "redis: { url: ${A}, prefix: 'a }\n", /line 1|line 2/],
  ];
  test.each(SYNTAX)(
    'a settings file that is not valid YAML gives a fault with line and column: %s',
    (_what, text, message) => {
      const faults = faultsOf(text);
      expect(faults.every((fault) => fault.path === '/')).toBe(true);
      expect(faults.map((fault) => fault.message).join('\n')).toMatch(message);
    },
  );
});

describe('checks of settings by other layers', () => {
  const checks = {
    expression: (text: string) => (text === 'bad' ? 'no JSONata' : undefined),
    scopeFilter: (text: string) => (text === 'bad' ? 'no filter' : undefined),
    attributePath: (text: string) => (text === 'bad' ? 'no path' : undefined),
  };
  const more = `users: { scope: bad }
attributes: { a: { type: string, from: bad }, b: { type: string, expression: bad }, c: { type: string, from: ok } }`;

  test('faults that a check of another layer finds in the settings are reported with their paths', () => {
    expect(faultsOf(fileWith(more), {}, checks)).toEqual([
      { path: '/targets/main/users/scope', message: 'no filter' },
      { path: '/targets/main/attributes/a/from', message: 'no path' },
      { path: '/targets/main/attributes/b/expression', message: 'no JSONata' },
    ]);
  });

  test('an expression in the settings is accepted unchecked if no other layer adds a check', () => {
    expect(loadText(fileWith(more)).targets.main?.attributes.b).toEqual({
      type: 'string',
      expression: 'bad',
      onEmpty: 'clear',
    });
  });
});

test('no fault of the settings contains a secret', () => {
  const hidden = 'hunter2';
  const text = `
server: { adminToken: ${hidden}, publicUrl: 'https://u:${hidden}@a.example', port: ${hidden} }
redis: { url: 'http://:${hidden}@redis' }
connections: { default: { profile: ${hidden}, tokens: [${hidden}, { name: a, secret: ${hidden} }] } }
targets: { main: { url: 'https://u:${hidden}@a.example', token: ${hidden}, scimToken: [${hidden}] } }`;
  const broken = [
    `server: { adminToken: "${hidden}\n`,
    `a: ] ${hidden}\n`,
    `a: *${hidden}\n`,
    `a: !${hidden} b`,
  ];
  for (const file of [text, ...broken]) {
    const error = errorOf(() => loadConfig({ env: {}, cwd: folderWith({ 'config/bridge.yaml': file }) }));
    expect(`${JSON.stringify(error)} ${error.message} ${error.stack}`).not.toContain(hidden);
  }
});
