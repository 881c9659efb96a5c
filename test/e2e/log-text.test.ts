// Tests what the text of the command log tells of a person: values that decide about access, and the ref after forget.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann = '';
beforeAll(async () => {
  place = await openPlace({
    target: {
      attributes: {
        clearance: { type: 'string', from: 'userType', onEmpty: 'keep' },
        country: { type: 'string', from: 'title', onEmpty: 'keep' },
      },
    },
  });
  ann = await place.idp.createUser(ANN, { title: 'DE', userType: 'public' });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

/** Returns the lines of the log with this action. */
async function linesOf(action: string, ...args: string[]): Promise<string[]> {
  const { text } = await place.commands.run('log', '--action', action, ...args);
  return text.split('\n');
}

test('log shows the attributes of a created account', async () => {
  const [line] = await linesOf('create', '--resource', ANN);
  expect(line).toContain('attributes.country: null → "DE"');
  expect(line).toContain('attributes.clearance: null → "public"');
  expect(line).not.toContain('displayName');
});

test('log lists the changed attributes of an update before names such as displayName, and counts what it leaves out', async () => {
  await place.idp.patch(
    `/Users/${ann}`,
    { op: 'replace', path: 'displayName', value: 'Ann Lee' },
    { op: 'replace', path: 'name.givenName', value: 'Ann' },
    { op: 'replace', path: 'name.familyName', value: 'Lee' },
    { op: 'replace', path: 'title', value: 'US' },
    { op: 'replace', path: 'userType', value: 'secret' },
  );
  await place.idle();
  const [line] = await linesOf('update', '--resource', ANN);
  expect(line).toContain('attributes.country: "DE" → "US"');
  expect(line).toContain('attributes.clearance: "public" → "secret"');
  expect(line).toContain('displayName: ');
  expect(line).toContain('; and 2 more');
}, 30_000);

test('log finds a forgotten person by the ref, and tells two forgotten people apart', async () => {
  const bob = await place.idp.createUser('bob@acme.example');
  await place.idle();
  for (const id of [ann, bob]) {
    await place.idp.send('DELETE', `/Users/${id}`);
    await place.idle();
    expect((await place.commands.run('forget', `User:${id}`, '--yes', '--by', 'dpo')).code).toBe(0);
  }
  const found = await place.commands.run('log', '--resource', `User:${ann}`);
  expect(found.code).toBe(0);
  expect(found.text).toContain(`(forgotten) User:${ann}  create`);
  expect(found.text).not.toContain(bob);
  const { text } = await place.commands.run('log');
  expect(text).toContain(`(forgotten) User:${bob}  deactivate`);
});

test('log --resource with a ref of which the log has nothing exits 4', async () => {
  for (const flags of [[], ['--json']])
    expect(await place.commands.run('log', '--resource', 'User:nobody', ...flags)).toMatchObject({ code: 4 });
});

test('the limits of the log removed old entries → the command log says when the log begins, unless --since is later', async () => {
  const full = await openPlace({ rest: { provisioningLog: { maxEntries: 100, maxAgeDays: 30 } } as object });
  try {
    await full.idp.createUser(ANN);
    await full.idle();
    expect((await full.commands.run('log')).text).not.toContain('were removed');
    // Each new person has two entries, of a creation and an activation.
    const others = Array.from({ length: 60 }, (_, index) => full.idp.createUser(`u${index}@acme.example`));
    await Promise.all(others);
    await full.idle();
    const { text } = await full.commands.run('log', '--resource', ANN);
    expect(text).toContain('Nothing in the log matches.');
    const [, begins = ''] =
      /Older entries of the log of default → main were removed by its limits: it begins at (\S+)\.$/m.exec(
        text,
      ) ?? [];
    const after = new Date(Date.parse(begins)).toISOString();
    const recent = await full.commands.run('log', '--resource', ANN, '--since', after);
    expect(recent.text).not.toContain('were removed');
  } finally {
    await full.stop();
  }
}, 60_000);
