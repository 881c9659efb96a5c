// Tests that the plan counts a person whose mapping fails and whose write was refused as one conflict.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const VIC = 'vic@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: {
      attributes: {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'keep' },
        level: { type: 'number', expression: '$number(title)', onEmpty: 'keep' },
      },
    },
  });
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
  return method === 'GET' ? answer.json() : undefined;
};

test('a person with both a mapping fault and refused values counts as one conflict in the plan', async () => {
  const { idp, commands } = place;
  await idp.createUser(VIC, { title: 'no number', addresses: [{ type: 'work', country: 'DE' }] });
  await idp.createUser('bob@acme.example', { title: '4', addresses: [{ type: 'work', country: 'US' }] });
  await eventually('the person is a dead letter', async () =>
    (await commands.run('dead-letters', 'list')).text.includes(VIC),
  );
  const { items } = await atPlatform('GET', '/api/v1/user-attributes');
  const country = items.find(({ name }: { name: string }) => name === 'country');
  await atPlatform('DELETE', `/api/v1/user-attributes/${country.id}`);
  await atPlatform('POST', '/api/v1/user-attributes', { name: 'country', type: 'number' });
  const { text } = await commands.run('plan', '--full');
  const ofVic = text.split('\n').filter((line) => line.includes(`User ${VIC}: conflict`));
  expect(ofVic).toHaveLength(1);
  expect(ofVic[0]).toContain('level expression failed');
  expect(text).toContain('1 conflict needs a person');
});
