// Tests doctor while the address of a target leads to another tenant, or a proxy changes the answers: nothing is said to be lost,
// and no setting is to be changed for it.
import '../support/load-modules.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { eventually } from '../support/eventually.ts';
import { startFront, type Front } from '../support/front.ts';
import { openPlace, type Place } from '../support/situation.ts';

const TEAM = { type: 'string', from: 'title' };

let front: Front;
let place: Place;
beforeAll(async () => {
  front = await startFront();
  place = await openPlace({ target: { attributes: { team: TEAM } } });
  front.platformUrl = place.sandbox.ready.platformUrl;
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
  await place.idp.createUser('ann@acme.example', { title: 'sales' });
  await place.idle();
}, 60_000);
afterAll(async () => {
  await place.stop();
  front.stop();
});

const doctor = async (): Promise<string> => (await place.commands.run('doctor')).text.replaceAll(/\s+/g, ' ');
/** Answers requests for the Platform API in place of the platform. */
const answerForApi = (status: number, body: string): void => {
  front.answer = (_method, url) => (url.startsWith('/api/v1/') ? { status, body } : undefined);
};

test.each([
  ['half a record', '{"id":'],
  ['a record of another form', '{"hello":1}'],
])(
  'the platform answers %s → doctor says that the answer cannot be read, and names the proxy',
  async (_what, body) => {
    answerForApi(200, body);
    const text = await doctor();
    expect(text).toContain('✘ target main: GET /api/v1/users/me answered what cannot be read: ');
    expect(text).toContain('Check targets.main.url, and any proxy before the platform.');
    expect(text).not.toContain('does not answer');
  },
);

test('a proxy refuses the question for the owner of the key → doctor names the proxy, and asks for no change of users.protected', async () => {
  answerForApi(404, '<html>not here</html>');
  const text = await doctor();
  expect(text).toContain(
    '! target main: does not tell whose key it is: 404 and a text that is not of the platform (not here). Check targets.main.url, and any proxy before the platform.',
  );
  expect(text).not.toContain('users.protected');
});

test('the address leads to another tenant → doctor does not say that the definitions were deleted there', async () => {
  front.answer = () => undefined;
  const other = await startSandbox();
  try {
    await place.change(({ targets: { main } }) =>
      Object.assign(main, { url: other.ready.platformUrl, token: other.ready.fixtures.apiKeys.admin }),
    );
    const hold = async () => (await place.commands.run('status', '--json')).json[0].hold;
    for (const isHeld of [false, true]) {
      if (isHeld) {
        await place.commands.run('reconcile', '--yes');
        await eventually('the target is held', async () => (await hold())?.by === 'reconcile');
      }
      const text = await doctor();
      expect(text).toContain('attribute definitions can be read');
      expect(text).not.toContain('deleted there');
      expect(text).toContain('team will be defined at the next use');
    }
  } finally {
    await other.stop();
  }
}, 60_000);
