import { attributeOf, indexEntries } from '../../../src/directory/indexes.ts';
import { createKeyspace } from '../../../src/directory/keys.ts';
import { parseLink } from '../../../src/directory/links.ts';
import { fold, LANES, parseRef, parseStored, refOf } from '../../../src/directory/records.ts';

describe('stored records', () => {
  it('are read back with a text that holds spaces, numbers and line breaks', () => {
    expect(
      parseStored('id', '12 1700000000001 1700000000999 active [["userNames","a b"]]\n{"a":"1 2\\n3"} '),
    ).toEqual({
      id: 'id',
      version: 12,
      created: 1_700_000_000_001,
      lastModified: 1_700_000_000_999,
      text: '{"a":"1 2\\n3"} ',
    });
  });

  it('are named by kind and id, whatever the id holds', () => {
    expect(parseRef(refOf('Group', 'a:b'))).toEqual({ kind: 'Group', id: 'a:b' });
  });

  it('are ordered by lanes from the most to the least urgent', () => {
    expect(LANES).toEqual(['deactivation', 'edit', 'new', 'reconcile']);
  });

  it('have an empty link until one is stored', () => {
    expect([parseLink(''), parseLink('{"id":"7"}')]).toEqual([{}, { id: '7' }]);
  });
});

describe('fold', () => {
  it.each([
    ['letter case', 'ADA@X.com', 'ada@x.com'],
    ['composed and decomposed letters', 'Zoe\u0308', 'zo\u00eb'],
    ['Greek and Cyrillic', 'ΑДА', 'αда'],
  ])('makes equal what differs in %s', (_what, left, right) => {
    expect(fold(left)).toBe(fold(right));
  });

  it('keeps spaces and punctuation apart', () => {
    expect(fold('a b')).not.toBe(fold('ab'));
  });

  it('changes nothing the second time', () => {
    for (const value of ['İstanbul', 'ẞ', 'Ada', 'ﬁ']) expect(fold(fold(value))).toBe(fold(value));
  });
});

describe('keys', () => {
  it('share one hash tag per connection', () => {
    const keys = createKeyspace('p', 'okta');
    expect([keys.base, keys.key('users'), keys.key('members', 'g')]).toEqual([
      'p:{okta}:',
      'p:{okta}:users',
      'p:{okta}:members:g',
    ]);
  });
});

describe('index entries', () => {
  it('of a user are its folded userName, its externalId as written and each address once', () => {
    const emails = [
      { value: 'A@x' },
      { value: 'a@X' },
      { value: '' },
      {},
      null,
      { value: 5 },
      { value: 'b@x' },
    ];
    expect(
      indexEntries('User', { userName: 'Ada', externalId: 'E-1', displayName: 'Ada L', emails }),
    ).toEqual([
      ['userNames', 'ada'],
      ['externalIds:User', 'E-1'],
      ['emails', 'a@x'],
      ['emails', 'b@x'],
    ]);
  });

  it('of a group are its folded displayName and its externalId, and no address', () => {
    expect(
      indexEntries('Group', {
        displayName: 'Sales',
        externalId: 'E-1',
        userName: 'no',
        emails: [{ value: 'a' }],
      }),
    ).toEqual([
      ['displayNames', 'sales'],
      ['externalIds:Group', 'E-1'],
    ]);
  });

  it.each([undefined, null, '', 5, []])('leave out a name that is %p', (value) => {
    expect(indexEntries('User', { userName: value, externalId: value, emails: value })).toEqual([]);
  });

  it('name the SCIM attribute that a taken value belongs to', () => {
    expect(['userNames', 'displayNames', 'externalIds:User', 'externalIds:Group'].map(attributeOf)).toEqual([
      'userName',
      'displayName',
      'externalId',
      'externalId',
    ]);
  });
});
