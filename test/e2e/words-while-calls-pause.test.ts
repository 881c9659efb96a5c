// Tests the words of commands about a target to which no call is sent, because of a pause or a refused key.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { askHealth } from '../support/health.ts';
import { createScenarios } from '../support/scenario.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ADA = 'ada@acme.example';
const BOB = 'bob@acme.example';
const RENAMED = { op: 'replace', path: 'displayName', value: 'Bob Two' };

const faults = (place: Place, body: object) => place.platform.control('PATCH', '/faults', body);
const breakerOf = async (place: Place) => (await place.commands.run('status', '--json')).json[0].breaker;
/** A pause long enough for every command of a test. */
const LIMITED = { status429: { share: 1, retryAfter: 60 } };
const moment = (ms: number): string => new Date(ms).toISOString();
/** Returns the words about a pause that the platform asked for, without their first letter. */
const pauseText = ({ until }: { until: number }): string =>
  `ll calls pause until ${moment(until)}, because the platform asked for it (HTTP 429)`;

/** Pushes Ada and Bob, both in a group, and then a change of Bob that meets the fault. @returns the breaker that has noted `status` */
async function pushInto(place: Place, fault: object, status: number) {
  const { idp } = place;
  const [ada, bob] = [await idp.createUser(ADA), await idp.createUser(BOB)];
  await idp.createGroup('Crew', [ada, bob]);
  await place.idle();
  await faults(place, fault);
  await idp.patch(`/Users/${bob}`, RENAMED);
  return eventually('noted', async () => {
    const breaker = await breakerOf(place);
    return breaker.pause?.status === status && breaker;
  });
}

const test = createScenarios(
  () => openPlace({}),
  (place) => place.stop(),
);

test('calls pause after a 429 → verify-access says that the target was not read, and until when all calls pause', async (place) => {
  const { commands, platform } = place;
  const { pause } = await pushInto(place, LIMITED, 429);
  await platform.forgetRequests();
  const verified = await commands.run('verify-access', ADA, '--timeout', '2');
  expect(verified.code).toBe(1);
  expect(verified.text).toContain(`main was not asked within 2 s: a${pauseText(pause)}`);
  expect(verified.text).not.toContain('did not answer');
  expect(await platform.requests()).toEqual([]);
}, 60_000);

test('calls pause after a refused key (401) → verify-access says that the target was not read, since when the key is refused, and what to do', async (place) => {
  const { since } = await pushInto(place, { status5xx: { share: 1, status: 401 } }, 401);
  const verified = await place.commands.run('verify-access', ADA, '--timeout', '2');
  expect(verified.code).toBe(1);
  expect(verified.text).toContain(
    `main was not asked within 2 s: main refuses the key (401) since ${moment(since)}: set a new targets.main.token`,
  );
}, 60_000);

test('calls pause after a 429 → explain of a resource without a pending change says that the target could not be read, and until when all calls pause', async (place) => {
  const { pause } = await pushInto(place, LIMITED, 429);
  for (const name of [ADA, 'Crew']) {
    const [told] = (await place.commands.run('explain', name, '--json')).json;
    expect(told.summary).toContain(`The state of ${name} is not known: main could not be read now.`);
    expect(told.reasons).toContain(`A${pauseText(pause)}.`);
  }
}, 60_000);

test('calls pause after a 429 → explain of a user with only a new membership pending says until when all calls pause', async (place) => {
  const { pause } = await pushInto(place, LIMITED, 429);
  const [ada] = (await place.commands.run('explain', ADA, '--json')).json;
  await place.idp.createGroup('Night', [ada.id]);
  const [told] = (await place.commands.run('explain', ADA, '--json')).json;
  expect([told.mark, told.summary]).toEqual([
    null,
    `A change of ${ADA} is on its way to main; a${pauseText(pause)}.`,
  ]);
}, 60_000);

test('calls are answered 401 and then 403 → status and /health date the failure from the first 401, and advise doctor', async (place) => {
  const { commands } = place;
  const { since } = await pushInto(place, { status5xx: { share: 1, status: 401 } }, 401);
  await faults(place, { status5xx: { share: 1, status: 403 } });
  await eventually(
    'open for 403',
    async () => {
      await commands.run('plan', '--deadline', '3s');
      const { open, status } = await breakerOf(place);
      return open && status === 403;
    },
    60_000,
  );
  const advice = 'witch SCIM on for the tenant and use the key of an administrator';
  const asks = `scim-bridge doctor tells whether the platform or a proxy answers; if it is the platform, s${advice}`;
  const [status, doctor] = [await commands.run('status'), await commands.run('doctor')];
  expect(status.text).toContain(
    `the platform answers 403; no call has succeeded since ${moment(since)}: only probes are sent; ${asks}`,
  );
  expect(doctor.text).toContain(`S${advice}.`);
  const { body } = await askHealth({ app: place }, '/health');
  expect(body.components['target main'].findings).toContain(
    `calls fail (status 403): only probes are sent; ${asks}`,
  );
}, 120_000);
