// Defines the test users of the measurements: about one kilobyte each, with computable ids, and changes to
// them.

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const ATTRIBUTES = 'urn:cube:params:1.0:UserAttribute';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const CITIES = ['Lisbon', 'Lyon', 'Leipzig', 'Lund', 'Linz'];

/** Returns the id of the preloaded user or group with this index. */
export const userId = (index) => String(index).padStart(20, '0');
export const GROUP_ID = 'group000000000000000';
export const userName = (name) => `person.${name}@example.com`;

/** Returns the body of a POST or PUT. `name` is the index of a preloaded user or any other unique text. */
export function user(name, title = 'Analyst') {
  const city = CITIES[String(name).length % CITIES.length];
  return {
    schemas: [USER, ENTERPRISE, ATTRIBUTES],
    externalId: `00u${name}`,
    userName: userName(name),
    name: { formatted: `Person ${name} Example`, familyName: 'Example', givenName: `Person ${name}` },
    displayName: `Person ${name} Example`,
    title,
    userType: 'Employee',
    preferredLanguage: 'en-GB',
    locale: 'en-GB',
    timezone: 'Europe/Lisbon',
    active: true,
    emails: [
      { value: userName(name), type: 'work', primary: true },
      { value: `home.${name}@example.org`, type: 'home' },
    ],
    phoneNumbers: [{ value: '+351 21 555 0100', type: 'work' }],
    addresses: [
      {
        streetAddress: '1 Example Street',
        locality: city,
        postalCode: '1000-001',
        country: 'PT',
        type: 'work',
      },
    ],
    [ENTERPRISE]: {
      employeeNumber: `E${name}`,
      costCenter: 'CC-100',
      organization: 'Example',
      division: 'Data',
      department: 'Analytics',
    },
    [ATTRIBUTES]: { region: city, regions: ['north', 'south'], clearance: 3 },
  };
}

/** Returns a PATCH that replaces one attribute. */
export const change = (path, value) => ({
  schemas: [PATCH_OP],
  Operations: [{ op: 'replace', path, value }],
});

/** Returns a PATCH that adds one member. */
export const addMember = (value) => ({
  schemas: [PATCH_OP],
  Operations: [{ op: 'add', path: 'members', value: [{ value }] }],
});
