// Tests how references such as `${NAME}` in a settings file are replaced.
import { substitute } from '../../../src/config/substitute.ts';
import { fileWith, folderWith, KEY, loadText, SECRET } from './settings-folder.ts';

const files = folderWith({ key: `${KEY}\n`, windows: `${KEY}\r\n`, two: `${KEY}\n\n` });
const CASES: [what: string, text: string, result: string][] = [
  ['a variable alone', '${A}', 'alpha'],
  ['a variable within text', 'x-${A}-y-${B}', 'x-alpha-y-beta'],
  ['an escaped reference', '$${A} ${A}', '${A} alpha'],
  ['a dollar sign that starts no reference', '^a$ $1 {A}', '^a$ $1 {A}'],
  ['an empty variable', '[${EMPTY}]', '[]'],
  ['a value that looks like a reference is not replaced again', '${NESTED}', '${A}'],
  ['a secret file, its last newline cut', `\${file:${files}/key}`, KEY],
  ['a secret file with a Windows line end', `\${file:${files}/windows}`, KEY],
  ['only one newline is cut', `\${file:${files}/two}`, `${KEY}\n`],
  ['a file beside the settings', '${file:key}', KEY],
];

test.each(CASES)(
  'variable and file references in a settings text are replaced: %s',
  (_what, text, result) => {
    const env = { A: 'alpha', B: 'beta', EMPTY: '', NESTED: '${A}' };
    const { document, faults } = substitute({ list: [{ text }] }, env, files);
    expect({ document, faults }).toEqual({ document: { list: [{ text: result }] }, faults: [] });
  },
);

test('two missing variables in one value of the settings are one fault with both names', () => {
  expect(substitute({ a: { b: '${X}${Y}' } }, {}, files).faults).toEqual([
    { path: '/a/b', message: expect.stringMatching(/X is not set.*Y is not set/) },
  ]);
});

test('a reference to a variable named like a member of Object.prototype counts as a missing variable', () => {
  expect(substitute({ a: '${constructor}' }, {}, files).faults).toHaveLength(1);
});

test('inside YAML braces and brackets a reference to a variable is replaced, and needs no quotes', () => {
  const text = fileWith().replace(SECRET, '${TOKEN}');
  expect(loadText(text, { TOKEN: SECRET }).connections.default?.tokens[0]?.secret).toBe(SECRET);
});

test('a reference as whole value becomes a number or boolean if the setting has this type, and a numeric secret stays text', () => {
  const text = fileWith('allowLoopbackHttp: ${YES}\nscimToken: ${DIGITS}', 'server: { port: "${P}" }');
  const config = loadText(text, { YES: 'true', P: '9000', DIGITS: '1234567890123456' });
  expect(config.server.port).toBe(9000);
  expect(config.targets.main).toMatchObject({ allowLoopbackHttp: true, scimToken: '1234567890123456' });
});
