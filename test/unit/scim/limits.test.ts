// Tests length limits of stored values.
import { checkLengths, type Resource } from '../../../src/scim/index.ts';

const limits = { valueBytes: 2000, nameCharacters: 300, resourceBytes: 5000 };
const URN = 'urn:acme:2.0:Person';
const check = (resource: object, before?: object): void =>
  checkLengths(resource as Resource, JSON.stringify(resource), limits, before as Resource | undefined);
const text = (length: number, unit = 'x'): string => unit.repeat(length);

test.each([
  ['userName', { userName: text(301) }],
  ['displayName', { displayName: text(301, '😀') }],
  ['externalId', { externalId: text(301) }],
  ['title', { title: text(2001) }],
  ['title', { title: text(1001, 'é') }],
  ['name.givenName', { name: { givenName: text(2001) } }],
  ['emails.value', { emails: [{ value: 'a@x' }, { value: text(2001) }] }],
  [`${URN}:note`, { [URN]: { note: text(2001) } }],
  [`${URN}:seat.room`, { [URN]: { seat: { room: text(2001) } } }],
])("a value of %s above its length limit is refused with the attribute's name", (name, resource) => {
  expect(() => check(resource)).toThrow(
    expect.objectContaining({
      status: 400,
      scimType: 'invalidValue',
      detail: expect.stringContaining(`"${name}"`),
    }),
  );
});

test('a value of exactly the maximum length is accepted', () => {
  check({ userName: text(300, '😀'), title: text(2000), name: { givenName: text(500, 'é') } });
});

test('a resource above the size limit answers 400 that names its largest attribute', () => {
  const emails = Array.from({ length: 50 }, (_, index) => ({ value: `${index}${text(100)}` }));
  expect(() => check({ userName: 'ada', title: text(1000), emails })).toThrow(/6\d\d\d bytes.*"emails"/);
});

test('a stored value is above its limit → other attributes can change, and the value and the resource may not grow', () => {
  const before = { userName: text(400), title: text(6000), active: true };
  check({ ...before, active: undefined }, before);
  expect(() => check({ ...before, nickName: text(10) }, before)).toThrow(/bytes/);
  expect(() => check({ ...before, userName: text(401) }, before)).toThrow(/"userName"/);
});

test('an element before a stored text above its limit is removed → the text passes, and another long text does not', () => {
  const [long, other] = [text(2100), text(2200)];
  const before = {
    userName: 'ada',
    emails: [{ value: 'a@x' }, { value: 'b@x', display: long }],
    [URN]: { notes: ['short', long] },
  };
  check({ ...before, emails: before.emails.slice(1), [URN]: { notes: [long] } }, before);
  expect(() => check({ ...before, emails: [{ value: 'b@x', display: other }] }, before)).toThrow(
    /"emails.display"/,
  );
  expect(() => check({ ...before, emails: [{ value: long }] }, before)).toThrow(/"emails.value"/);
  expect(() => check({ ...before, [URN]: { notes: [other] } }, before)).toThrow(/:notes"/);
});
