// Tests that verify-access and explain name a value that a person has only by the default of the attribute definition at the platform.
import { openPlace, type Place } from '../support/situation.ts';

const UMA = 'uma@acme.example';

let place: Place;
beforeAll(async () => {
  const country = { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' };
  place = await openPlace({ target: { attributes: { country } } });
}, 60_000);
afterAll(() => place.stop());

const atPlatform = async (method: string, path: string, body?: object): Promise<any> => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const answer = await fetch(`${platformUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(answer.ok).toBe(true);
  return answer.json();
};

test("a person has no stored country → verify-access and explain name the platform's default value, which they omit beside a stored value", async () => {
  const note = 'country: the default value of the platform, "US", applies, because no value is stored';
  const uma = await place.idp.createUser(UMA, { addresses: [{ type: 'work', country: 'DE' }] });
  await place.idle();
  const { items } = await atPlatform('GET', '/api/v1/user-attributes');
  const { id } = items.find(({ name }: { name: string }) => name === 'country');
  await atPlatform('PUT', `/api/v1/user-attributes/${id}`, { defaultValue: 'US' });
  const explained = async (): Promise<string> =>
    (await place.commands.run('explain', UMA, '--all')).text.replaceAll(/\s+/g, ' ');
  expect((await place.commands.run('verify-access', UMA)).text).not.toContain(note);
  expect(await explained()).not.toContain('default value');
  await place.idp.patch(`/Users/${uma}`, { op: 'remove', path: 'addresses' });
  await place.idle();
  const { text, code } = await place.commands.run('verify-access', UMA);
  expect(text).toContain(note);
  expect(code).toBe(0);
  expect(await explained()).toContain(note);
});
