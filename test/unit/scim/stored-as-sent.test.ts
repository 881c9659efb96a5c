// Tests that a canonical resource is stored without a copy and with the same result.
import fc from 'fast-check';
import { parseResource } from '../../../src/scim/index.ts';
import { ATTRIBUTES, auto, ENTERPRISE, USER, userType } from './sample.ts';

const parse = (body: unknown) => parseResource(userType, body, auto);

/** Returns the same object with keys in another order, some in lower case, and some with empty values. */
const anyForm = (members: Record<string, unknown>) =>
  fc
    .record({
      order: fc.shuffledSubarray(Object.keys(members), { minLength: Object.keys(members).length }),
      lower: fc.subarray(Object.keys(members)),
      nothing: fc.boolean(),
    })
    .map(({ order, lower, nothing }) => ({
      ...(nothing ? { unheardOf: null } : {}),
      ...Object.fromEntries(
        order.map((name) => [lower.includes(name) ? name.toLowerCase() : name, members[name]]),
      ),
    }));

const name = { formatted: 'Ada L', familyName: 'L', givenName: 'Ada' };
const work = { value: 'ada@x.com', display: 'Ada', type: 'work', primary: true };
const home = { value: 'ada@home.org', type: 'home' };
const enterprise = { employeeNumber: '7', costCenter: 'C', organization: 'O', department: 'D' };
const body = (forms: { name: object; work: object; home: object; enterprise: object }) => ({
  schemas: [USER],
  userName: 'ada',
  name: forms.name,
  emails: [forms.work, forms.home],
  [ENTERPRISE]: forms.enterprise,
  [ATTRIBUTES]: { region: 'eu' },
});
const wanted = JSON.stringify(parse(body({ name, work, home, enterprise })));

test('resources that differ only in the order and letter case of their attribute names and in null values give the same canonical text', () => {
  const forms = fc.record({
    name: anyForm(name),
    work: anyForm(work),
    home: anyForm(home),
    enterprise: anyForm(enterprise),
  });
  expect(wanted).toContain('"value":"ada@x.com","display":"Ada","type":"work","primary":true');
  fc.assert(fc.property(forms, (each) => JSON.stringify(parse(body(each))) === wanted));
});

test('parsing a resource does not modify the object that the client sent', () => {
  const sent = {
    ...body({ name, work: { ...work }, home: { ...home, primary: true }, enterprise: { department: 'D' } }),
    [`${ENTERPRISE}:costCenter`]: 'C',
  };
  const before = JSON.stringify(sent);
  const resource = parse(sent);
  expect(resource[ENTERPRISE]).toEqual({ costCenter: 'C', department: 'D' });
  expect(resource.emails).toEqual([
    { ...work, primary: false },
    { ...home, primary: true },
  ]);
  expect(JSON.stringify(sent)).toBe(before);
});

test('a key named like a member of Object.prototype is not stored as an attribute', () => {
  const emails = '[{"value":"a@x.com","__proto__":{"primary":true},"toString":"x"}]';
  const resource = parse(JSON.parse(`{"schemas":["${USER}"],"userName":"ada","emails":${emails}}`));
  expect(JSON.stringify(resource.emails)).toBe('[{"value":"a@x.com"}]');
});
