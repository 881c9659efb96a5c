// Tests that options which contradict each other are refused with exit code 1 before anything is done.
import { jest } from '@jest/globals';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  const target = {
    url: 'http://127.0.0.1:9',
    token: 'a-key-for-the-tests-0123456789',
    allowLoopbackHttp: true,
  };
  place = await openPlace({
    roles: [],
    rest: {
      connections: {
        hr: { tokens: [{ name: 'primary', secret: 'a-token-for-the-tests-0123456789' }], targets: ['main'] },
        lab: { tokens: [{ name: 'primary', secret: 'b-token-for-the-tests-0123456789' }], targets: ['test'] },
      },
      targets: { main: target, test: target } as any,
    },
  });
}, 60_000);
afterAll(() => place.stop());

const TWO_NAMES = 'Give one name: as the argument, or with --name.';
const NAMES_AND_ALL = 'Name the resources, or say --all, and not both.';
const UNFED = 'The connection hr does not feed the target test. It feeds: main.';
const both = (first: string, second: string) =>
  new RegExp(`option '${first}\\b.*' cannot be used with option '${second}\\b`);

test.each([
  [['log', '--json', '--csv'], both('--csv', '--json')],
  [['log', '--verify', '--csv'], both('--verify', '--csv')],
  [['log', '--verify', '--since', '1h'], both('--verify', '--since')],
  [['log', '--verify', '--resource', 'jo'], both('--verify', '--resource')],
  [['acts', '--verify', '--action', 'hold'], both('--verify', '--action')],
  [['acts', '--verify', '--limit', '5'], both('--verify', '--limit')],
  [['approvals', 'show', 'hr.main.1-0', '--all', '--json'], both('--all', '--json')],
  [['approvals', 'show', 'hr.main.1-0', '--all', '--limit', '5'], both('--all', '--limit')],
  [['dead-letters', 'retry', 'jo@acme.example', '--all'], NAMES_AND_ALL],
  [['dead-letters', 'drop', 'jo@acme.example', '--all'], NAMES_AND_ALL],
  [['token', 'create', 'a', '--name', 'b', '--connection', 'hr'], TWO_NAMES],
  [['hold', '--target', 'main', '--target', 'test'], 'Give the option once.'],
  [['token', 'create', 'a', '--expires', '1h', '--expires', '4w'], 'Give the option once.'],
  [['log', '--connection', 'hr', '--target', 'test'], UNFED],
  [['exceptions', '--connection', 'hr', '--target', 'test'], UNFED],
  [['links', 'list', '--connection', 'hr', '--target', 'test'], UNFED],
  [['log', '--since', '1h', '--until', '2h'], '--since is later than --until: nothing lies between them.'],
  [['log', '--since', '7'], 'Say 24h, 7d, or a date such as 2027-01-31.'],
  [['acts', '--until', '2027-02-31'], 'Say 24h, 7d, or a date such as 2027-01-31.'],
  [['log', '--limit', '0'], 'Say a whole number from 1.'],
  [['hold', '--by', 'x'.repeat(300)], /'x{100}…' is invalid\. Say 1 to 200 characters\./],
])('a command with contradicting or invalid options is refused: %p', async (words, refusal) => {
  const errors: string[] = [];
  const write = jest
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => errors.push(String(text)) > 0);
  const { code, text } = await place.commands.run(...words).finally(() => write.mockRestore());
  expect([text, ...errors].join('\n')).toMatch(refusal);
  expect(code).toBe(1);
});

test('--since and --until accept a time before 1970, and `log` with such a --since shows all entries', async () => {
  const all = await place.commands.run('acts', '--json');
  const since = await place.commands.run('acts', '--json', '--since', '9999999d');
  expect(since).toEqual({ ...all, code: 0 });
  expect((await place.commands.run('log', '--until', '9999999d')).code).toBe(0);
});

test('an order that is refused because of contradicting options leaves no audit entry and no token', async () => {
  expect((await place.commands.run('acts')).text).toBe('Nothing was ordered.');
  expect((await place.commands.run('token', 'list')).text).not.toContain(' a:');
});
