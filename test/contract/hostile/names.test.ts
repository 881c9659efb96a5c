// Tests Unicode names: uniqueness, filters and members compare names without case after NFC (src/directory/records.ts).
import { startApi, type Client } from '../scim-conformance/client.ts';
import type { Bridge } from '../../support/build-bridge.ts';
import { expectUnharmed } from './attack.ts';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
});
afterAll(() => bridge.stop());
afterEach(() => expectUnharmed(scim));

const PAIRS: [what: string, stored: string, asked: string][] = [
  ['composed and decomposed', 'jos\u00e9@x.example', 'jose\u0301@x.example'],
  ['decomposed and composed', 'rene\u0301@x.example', 'ren\u00e9@x.example'],
  ['capital composed and small decomposed', '\u00c9mile@x.example', 'e\u0301mile@x.example'],
  ['combining marks in another order', 'q\u0323\u0307@x.example', 'q\u0307\u0323@x.example'],
  ['Hangul composed and in parts', '\uac00@x.example', '\u1100\u1161@x.example'],
  ['upper and lower case', 'Straight@x.example', 'sTRAIGHT@X.EXAMPLE'],
  ['fullwidth and plain', '\uff41dmin@x.example', 'admin@x.example'],
  ['fullwidth capital and fullwidth small', '\uff22oss@x.example', '\uff42oss@x.example'],
  ['zero-width space inside', 'ze\u200bro@x.example', 'zero@x.example'],
  ['byte order mark in front', '\ufeffbom@x.example', 'bom@x.example'],
  ['soft hyphen', 'so\u00adft@x.example', 'soft@x.example'],
  ['Turkish dotted capital I', '\u0130stanbul@x.example', 'istanbul@x.example'],
  ['Turkish dotless small i', '\u0131rmak@x.example', 'IRMAK@x.example'],
  ['sharp s and ss', 'stra\u00dfe@x.example', 'STRASSE@x.example'],
  ['sharp s small and capital', 'gro\u00df@x.example', 'gro\u1e9e@x.example'],
  ['Greek final sigma', '\u039f\u0394\u039f\u03a3@x.example', '\u03bf\u03b4\u03bf\u03c2@x.example'],
  ['Kelvin sign and k', '\u212aelvin@x.example', 'kelvin@x.example'],
  ['Ohm sign and omega', '\u2126mega@x.example', '\u03c9mega@x.example'],
  ['ligature fi', '\ufb01nn@x.example', 'finn@x.example'],
  ['Cyrillic a and Latin a', '\u0430lice@x.example', 'alice@x.example'],
  ['right-to-left override', '\u202eevil@x.example', 'evil@x.example'],
  ['blank at the end', 'blank@x.example ', 'blank@x.example'],
];

describe.each(PAIRS)('names with %s', (_what, stored, asked) => {
  test('a userName is taken (409) exactly if a filter finds it, and its spelling is stored as sent (RFC 7643 §4.1.1)', async () => {
    const user = await scim.user(stored, { externalId: undefined });
    expect((await scim.get(`/Users/${user.id}`)).body.userName).toBe(stored);
    const found = (await scim.find('/Users', `userName eq ${JSON.stringify(asked)}`)).map(({ id }) => id);
    const second = await scim.post('/Users', { userName: asked });
    const isSame = second.status === 409;
    expect({ isSame, found }).toEqual({ isSame, found: isSame ? [user.id] : [] });
    // After a 409 a provider searches for the name. Without a match it would repeat the POST for ever.
    for (const filter of [
      `userName eq ${JSON.stringify(stored)}`,
      `not (userName ne ${JSON.stringify(stored)})`,
    ]) {
      expect((await scim.find('/Users', filter)).map(({ id }) => id)).toEqual([user.id]);
    }
    const byMail = (await scim.find('/Users', `emails.value eq ${JSON.stringify(asked)}`)).map(
      ({ id }) => id,
    );
    expect(byMail).toEqual(isSame ? [user.id] : []);
    await scim.delete(`/Users/${user.id}`);
    if (!isSame) await scim.delete(`/Users/${second.body.id}`);
  });

  test('the displayName of a group is taken (409) exactly if a filter finds it', async () => {
    const group = await scim.group(stored);
    const found = (await scim.find('/Groups', `displayName eq ${JSON.stringify(asked)}`)).map(({ id }) => id);
    const second = await scim.post('/Groups', { displayName: asked });
    const isSame = second.status === 409;
    expect({ isSame, found }).toEqual({ isSame, found: isSame ? [group.id] : [] });
    await scim.delete(`/Groups/${group.id}`);
    if (!isSame) await scim.delete(`/Groups/${second.body.id}`);
  });

  test('users may have externalIds that differ only in spelling or case, and a filter by each value finds only its user (RFC 7643 §3.1)', async () => {
    const first = await scim.user('exact-a@x.example', { externalId: stored });
    const second = await scim.user('exact-b@x.example', { externalId: asked });
    for (const [user, value] of [
      [first, stored],
      [second, asked],
    ]) {
      const found = await scim.find('/Users', `externalId eq ${JSON.stringify(value)}`);
      expect(found.map(({ id }) => id)).toEqual([user.id]);
      await scim.delete(`/Users/${user.id}`);
    }
  });
});

test('a userName of 100,000 characters answers 400, or is stored as sent and then taken in capitals', async () => {
  const userName = `${'x'.repeat(100_000)}@x.example`;
  const answer = await scim.post('/Users', { userName });
  if (answer.status === 400) return;
  expect(answer.status).toBe(201);
  expect((await scim.get(`/Users/${answer.body.id}`)).body.userName).toBe(userName);
  expect((await scim.post('/Users', { userName: userName.toUpperCase() })).status).toBe(409);
});
