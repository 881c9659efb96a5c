// Tests that docs/events.md names each security event that the bridge sends, and no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_URIS } from '../../../src/events/claims.ts';

const PREFIX = 'urn:ietf:params:scim:event:prov:';
const page = readFileSync(join(import.meta.dirname, '../../../docs/events.md'), 'utf8');
/** The list below the example, before the rules. */
const list = page.slice(page.indexOf('\n- **'), page.indexOf('- **Names, no values.**'));

test('the list of docs/events.md has the events that ServiceProviderConfig announces', () => {
  const heads = list
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => line.split(': ')[0] ?? '');
  const names = heads.flatMap((head) =>
    [...head.matchAll(/`([a-z:]+)`/g)].map(([, name]) => `${PREFIX}${name}`),
  );
  expect(names.sort()).toEqual([...EVENT_URIS].sort());
});

test('every event that docs/events.md names in full exists', () => {
  const named = page.match(/urn:ietf:params:scim:event:prov:[a-z:]+[a-z]/g) ?? [];
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((name) => !EVENT_URIS.includes(name))).toEqual([]);
});
