// Tests changes of users whose stored values are above a limit that was lowered later.
import { createClient, startApi, userBody, type Client } from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
});
afterAll(() => bridge.stop());

test('a PUT that repeats a title above the lowered limit deactivates the user, and one with another long title answers 400', async () => {
  const title = 'x'.repeat(5000);
  const { id } = await scim.user('long@x.example', { title });
  bridge.config.server.limits.valueBytes = 4000;
  const lowered = createClient((await bridge.another('api')).port);
  const put = (extra: object) => lowered.put(`/Users/${id}`, userBody('long@x.example', extra));
  expect(await put({ title: `${title}y`, active: false })).toMatchObject({
    status: 400,
    body: { scimType: 'invalidValue', detail: expect.stringContaining('"title"') },
  });
  expect(await put({ title, active: false })).toMatchObject({ status: 200, body: { title, active: false } });
  expect((await put({ active: true })).body).not.toHaveProperty('title');
  expect((await lowered.put('/Users/nobody', userBody('nobody@x.example', { title }))).status).toBe(404);
});
