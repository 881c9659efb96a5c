// Tests verify-access at a platform without memberships or without a user list.
import { readAccount } from '../../../src/verify-access/account.ts';
import { toSecurityContext } from '../../../src/verify-access/security-context.ts';
import { EndpointAbsent } from '../../../src/platform/errors.ts';
import type { PlatformClient } from '../../../src/platform/client.ts';

const ADA = { id: 's1', userName: 'Ada@acme.example', active: true };
const EXTENSION = 'urn:cube:params:1.0:UserAttribute';

function fakeClient(user: object, accounts: () => Promise<object[]>): PlatformClient {
  const groups: Record<string, object> = {
    g1: { id: 'g1', displayName: 'analysts', members: [{ value: 's1' }] },
    g2: { id: 'g2', displayName: 'finance', members: [{ value: 's2' }] },
  };
  return {
    users: { get: () => Promise.resolve(user) },
    groups: { get: (id: string) => Promise.resolve(groups[id]) },
    accounts: { search: accounts },
    attributes: { list: () => Promise.resolve([]) },
    values: {
      list: (id: string) => Promise.resolve(id === '7' ? [{ name: 'country', value: 'DE' }] : []),
    },
  } as unknown as PlatformClient;
}
const WANTED = [
  { platformId: 'g1', name: 'analysts' },
  { platformId: 'g2', name: 'finance' },
  { platformId: undefined, name: 'not there yet' },
];

test('the platform shows an account without groups → verify-access reads each desired group by its id', async () => {
  const accounts = [
    { id: '7', username: 'ada@acme.example' },
    { id: '8', username: 'ada@acme.example.org' },
  ];
  const client = fakeClient(ADA, () => Promise.resolve(accounts));
  const reading = await readAccount(client, { id: 's1' }, WANTED, {});
  expect(reading?.view).toMatchObject({
    accountId: '7',
    groups: ['analysts'],
    attributes: { country: 'DE' },
  });
  expect(reading?.notes).toHaveLength(1);
});

test('no single account has the userName → verify-access takes attribute values from the SCIM extension and notes this', async () => {
  const same = { username: 'ada@acme.example' };
  const two = () => Promise.resolve([7, 9].map((id) => ({ id: String(id), ...same })));
  const absent = () => Promise.reject(new EndpointAbsent(200, { method: 'GET', route: '/api/v1/users' }));
  for (const accounts of [two, absent]) {
    const client = fakeClient({ ...ADA, [EXTENSION]: { country: 'FR', clearance: null } }, accounts);
    const reading = await readAccount(client, { id: 's1' }, [], {});
    expect(reading?.view).toMatchObject({ accountId: null, attributes: { country: 'FR' } });
    expect(reading?.notes.join()).toContain('does not show the account');
  }
});

test('the security context of verify-access has stored values, else defaults in their type, and omits values of another type', () => {
  const define = (name: string, type: string, defaultValue: string | null = null) =>
    ({ id: name, name, type, defaultValue }) as never;
  const definitions = [
    define('country', 'string', 'US'),
    define('region', 'string', 'west'),
    define('clearance', 'number', '3'),
    define('wrong', 'number', 'high'),
    define('contractor', 'boolean', 'false'),
    define('regions', 'string_array', '["a"]'),
    define('budgets', 'number_array', '["a"]'),
    define('unset', 'string'),
    define('constructor', 'string'),
  ];
  expect(toSecurityContext(['analysts'], { country: 'DE', gone: 'x' }, definitions)).toEqual({
    cubeCloud: {
      groups: ['analysts'],
      userAttributes: { country: 'DE', region: 'west', clearance: 3, contractor: false, regions: ['a'] },
    },
  });
});
