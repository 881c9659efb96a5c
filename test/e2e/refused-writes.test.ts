// Tests what commands tell while the platform answers one method with 401 and accepts the key for other calls.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const WORDS = /answers PATCH with 401 and accepts the key for other calls since 20[\d-]+T[\d:.]+Z/;
const ADVICE = 'heck the rights of targets.main.token, and any gateway before the platform';

let place: Place;
let ann: string;
beforeAll(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  await place.idle();
  const rules = [{ method: 'PATCH', status5xx: { share: 1, status: 401 } }];
  await place.platform.control('PATCH', '/faults', { rules });
  await rename('Ann 2');
  await eventually('refused', async () =>
    (await place.platform.requests()).some(({ status }) => status === 401),
  );
});
afterAll(() => place.stop());

let renamed = 2;
const rename = (value: string) =>
  place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value });
const runCommand = (...args: string[]) => place.commands.run(...args);

test('the platform answers PATCH with 401 and reads with 200 → doctor says that the key is valid and writes are refused, and exits 1', async () => {
  await eventually(
    'refused again after good answers to reads',
    async () => {
      await runCommand('plan');
      // A push is tried at once, and a retry after 15 s.
      await rename(`Ann ${++renamed}`);
      return WORDS.test((await runCommand('status')).text);
    },
    30_000,
  );
  const { code, text } = await runCommand('doctor');
  expect(text).toContain('✔ target main: the key is valid');
  expect(text).toMatch(/✘ target main: answers PATCH with 401/);
  expect(text).toMatch(WORDS);
  expect(text).toContain(ADVICE);
  expect(code).toBe(1);
}, 40_000);

test('the platform answers PATCH with 401 and reads with 200 → the commands status and explain still name the refused calls after successful reads', async () => {
  await runCommand('plan');
  const status = await runCommand('status');
  expect(status.code).toBe(2);
  expect(status.text).toMatch(WORDS);
  expect(status.text).toContain(ADVICE);
  expect(status.text).not.toContain('set a new');
  const explained = (await runCommand('explain', ANN, '--all')).text;
  expect(explained).toMatch(WORDS);
  expect(explained).not.toContain('nobody has to do anything');
  expect((await runCommand('status', '--json')).json[0].breaker).toMatchObject({
    open: false,
    only: ['PATCH'],
  });
});

test('the platform accepts PATCH again after 401 → the waiting change is written, and status and doctor no longer report the 401', async () => {
  await place.platform.control('PATCH', '/faults', {});
  await place.idle();
  expect((await place.platform.user(ANN))?.displayName).toBe(`Ann ${renamed}`);
  await eventually('status is quiet', async () => !(await runCommand('status')).text.includes('401'));
  const { code, text } = await runCommand('doctor');
  expect(text).not.toContain('401');
  expect(code).toBe(0);
}, 40_000);
