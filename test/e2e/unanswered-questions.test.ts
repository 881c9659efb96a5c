// Tests that a question which Ctrl-D or Ctrl-C ends changes nothing, and that the command says so in its own words.
import '../support/load-modules.ts';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

/**
 * Runs a command on a terminal.
 * @param keys typed once the command asks, or a function that is called then; undefined: the input ends
 */
async function onTerminal(keys: string | (() => unknown) | undefined, ...args: string[]) {
  const names = ['stdin', 'stdout', 'stderr'] as const;
  const before = names.map((name) => Object.getOwnPropertyDescriptor(process, name));
  const [input, output] = [new PassThrough(), new PassThrough()];
  for (const stream of [input, output]) Object.assign(stream, { isTTY: keys !== undefined });
  Object.assign(input, { isTTY: true, setRawMode: () => input });
  let shown = '';
  output.on('data', (text) => (shown += String(text)));
  const streams = { stdin: input, stdout: output, stderr: output };
  for (const name of names)
    Object.defineProperty(process, name, { value: streams[name], configurable: true });
  try {
    const run = place.commands.run(...args);
    await eventually('the command asks', () => /yes: |N\] /.test(shown));
    if (keys === undefined) input.end();
    else if (typeof keys === 'string') input.write(keys);
    else keys();
    const result = await run;
    return { ...result, isRead: input.readableFlowing };
  } finally {
    for (const [index, name] of names.entries())
      Object.defineProperty(process, name, before[index] as PropertyDescriptor);
  }
}
const states = async (): Promise<string[]> =>
  (await place.commands.run('approvals', 'list', '--all', '--json')).json.map((each: any) => each.state);

test.each([
  ['Ctrl-D is typed', '\u0004'],
  ['Ctrl-C is typed', '\u0003'],
  ['the input ends', undefined],
])('%s at the question of approvals approve → nothing is decided, exit 1', async (_what, keys) => {
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  const { code, errors } = await onTerminal(keys, 'approvals', 'approve', id);
  expect([code, errors]).toEqual([1, 'Nothing was changed.']);
  expect(await states()).toEqual(['held']);
});

test('Ctrl-D is typed at the question of reconcile counts as no → nothing is written, exit 2, and the message names the differences', async () => {
  const account = await place.platform.user(ANN);
  const headers = { authorization: `Bearer ${place.sandbox.ready.fixtures.apiKeys.admin}` };
  await fetch(`${place.sandbox.ready.platformUrl}/api/scim/v2/Users/${account?.scimId}`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: 'Meddled' }],
    }),
  });
  const { code, text } = await onTerminal('\u0004', 'reconcile');
  expect(code).toBe(2);
  expect(text).toContain('1 difference: scim-bridge plan shows them');
  expect(text).not.toContain('Abort');
  expect((await place.platform.user(ANN))?.displayName).toBe('Meddled');
});

test.each(['reconcile', 'apply'])(
  'nothing is typed at the question of %s until its deadline → the question ends, nothing is written, exit 1',
  async (command) => {
    const file = join(place.commands.folder, 'plan.json');
    expect(await place.commands.run('plan', '--out', file)).toMatchObject({ code: 2 });
    const order = command === 'apply' ? ['apply', file] : ['reconcile'];
    const { code, errors, isRead } = await onTerminal(() => undefined, ...order, '--deadline', '4s');
    expect([code, errors]).toEqual([
      1,
      expect.stringContaining('The deadline passed before the command ended'),
    ]);
    // Nothing reads the terminal any more, so that the process can end.
    expect(isRead).toBe(false);
    expect((await place.platform.user(ANN))?.displayName).toBe('Meddled');
  },
  60_000,
);

test('SIGTERM arrives at the question of forget → the question ends, nothing is forgotten, exit 1', async () => {
  const id = await place.idp.createUser('eve@acme.example');
  await place.idle();
  await place.idp.send('DELETE', `/Users/${id}`);
  await place.commands.run('reconcile', '--yes');
  const sendSignal = (): unknown => process.listeners('SIGTERM').at(-1)?.('SIGTERM');
  const ended = await onTerminal(sendSignal, 'forget', 'eve@acme.example', '--leave-account');
  expect(ended).toMatchObject({
    code: 1,
    isRead: false,
    errors: expect.stringContaining('ended by a signal'),
  });
  expect((await place.commands.run('forget', 'eve@acme.example', '--leave-account', '--yes')).code).toBe(0);
});
