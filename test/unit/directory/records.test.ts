// Tests the stored text of records and links, folded names, keys and index entries.
import {
  attributeOf,
  firstRecord,
  fold,
  indexEntries,
  PRIORITIES,
  parseRef,
  parseStored,
  refOf,
} from '../../../src/directory/records.ts';
import { createKeyspace } from '../../../src/directory/keys.ts';
import { parseLink, toLinkText, type Link } from '../../../src/directory/outbox/link.ts';

describe('the stored form of records and links', () => {
  it('a record whose text has spaces, numbers and line breaks is read back', () => {
    const text = '{"a":"1 2\\n3"} ';
    const stored = firstRecord(1_700_000_000_001, 'active', '[["u","a b"]]', text);
    const times = { created: 1_700_000_000_001, lastModified: 1_700_000_000_001 };
    expect(parseStored('id', stored)).toEqual({ id: 'id', version: 1, ...times, text });
  });

  it('a record is damaged if one character of its state, checksum, entries or text differs', () => {
    const stored = firstRecord(1_700_000_000_001, 'active', '[["u","ada"]]', '{"userName":"ada"}');
    for (let at = stored.indexOf('active'); at < stored.length; at++) {
      const damaged = `${stored.slice(0, at)}${stored[at] === '7' ? '8' : '7'}${stored.slice(at + 1)}`;
      expect(parseStored('id', damaged)).toMatchObject({ id: 'id', version: 1, text: '', damaged: true });
    }
    for (const cut of ['', 'x', '1 2', stored.slice(0, -1), stored.slice(0, 40), `${stored} `])
      expect(parseStored('id', cut)).toMatchObject({ text: '', damaged: true });
  });

  it('a ref whose id has a colon is split at its first colon into kind and id', () => {
    expect(parseRef(refOf('Group', 'a:b'))).toEqual({ kind: 'Group', id: 'a:b' });
  });

  it('priorities are ordered from the most to the least urgent', () => {
    expect(PRIORITIES).toEqual(['deactivation', 'edit', 'new', 'reconcile']);
  });

  it('an empty text is parsed as a link without fields, and any other text as the link that it contains', () => {
    expect([parseLink(''), parseLink('{"id":"7"}')]).toEqual([{}, { id: '7' }]);
  });
});

describe('the stored text of a link', () => {
  const ada: Link = {
    id: 'scim-1',
    account: '7',
    origin: 'created',
    core: {
      userName: 'ada@x.com',
      externalId: null,
      displayName: 'Ada Lovelace',
      'name.givenName': 'Ada',
      'name.familyName': 'Lovelace',
      emails: 'ada@x.com',
      active: false,
      'another.path': 'u',
    },
    attributes: { c: 'x', list: [], none: null },
    writtenAt: 1_700_000_000_000,
    observedGeneration: '12',
    unsure: ['emails'],
    condition: { reason: 'Refused', message: 'no', since: 5 },
  };

  it.each<[string, Link]>([
    ['everything', ada],
    ['nothing', {}],
    ['an adopted group', { id: 'g', origin: 'adopted', core: { displayName: 'Sales' } }],
    [
      'an email address and a displayName that do not follow from other values',
      { core: { ...ada.core, emails: 'home@x.com', displayName: 'Countess' } },
    ],
    [
      'a displayName that looks like absent names',
      { core: { userName: 'ada', displayName: 'undefined undefined' } },
    ],
    ['a missing userName', { core: { emails: null } }],
  ])('a link with %s is read back as written', (_what, link) => {
    expect(parseLink(toLinkText(link))).toEqual(link);
  });

  it('the text of a link begins with the platform id, even if the id was set last', () => {
    const { id, ...rest } = ada;
    expect(toLinkText({ ...rest, ...(id === undefined ? {} : { id }) })).toMatch(/^{"id":"scim-1",/);
  });

  it('the text of a link is a quarter shorter than its JSON', () => {
    expect(toLinkText(ada).length).toBeLessThan(JSON.stringify(ada).length * 0.75);
  });
});

describe('folding of names', () => {
  it.each([
    ['letter case of ASCII letters', 'ADA@X.com', 'ada@x.com'],
    ['composition of letters', 'Zoe\u0308', 'zo\u00eb'],
    ['letter case of Greek and Cyrillic letters', 'ΑДА', 'αда'],
  ])('fold makes values equal that differ in %s', (_what, left, right) => {
    expect(fold(left)).toBe(fold(right));
  });

  it('fold keeps differences in spaces and punctuation', () => {
    expect(fold('a b')).not.toBe(fold('ab'));
  });

  it('fold of a folded value changes nothing', () => {
    for (const value of ['İstanbul', 'ẞ', 'Ada', 'ﬁ']) expect(fold(fold(value))).toBe(fold(value));
  });
});

describe('Redis keys of a connection', () => {
  it('all Redis keys of a connection have one hash tag', () => {
    const keys = createKeyspace('p', 'okta');
    expect([keys.base, keys.key('users'), keys.key('members', 'g')]).toEqual([
      'p:{okta}:',
      'p:{okta}:users',
      'p:{okta}:members:g',
    ]);
  });
});

describe('index entries of users and groups', () => {
  it('index entries of a user are the folded userName, the exact externalId, and each e-mail address once', () => {
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
      // Families with short names: USER_FAMILY of records.ts.
    ).toEqual([
      ['u', 'ada'],
      ['x', 'E-1'],
      ['e', 'a@x'],
      ['e', 'b@x'],
    ]);
  });

  it('a userName that is also among the emails of the user has one index entry', () => {
    expect(
      indexEntries('User', { userName: 'Ada@x', emails: [{ value: 'b@x' }, { value: 'ada@X' }] }),
    ).toEqual([
      ['m', 'ada@x'],
      ['e', 'b@x'],
    ]);
  });

  it('index entries of a group are the folded displayName and the externalId', () => {
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

  it.each([undefined, null, '', 5, []])(
    'a user whose userName, externalId and emails are %p has no index entries',
    (value) => {
      expect(indexEntries('User', { userName: value, externalId: value, emails: value })).toEqual([]);
    },
  );

  it('each name index belongs to its SCIM attribute: userNames, displayNames and externalIds', () => {
    expect(['userNames', 'displayNames', 'externalIds:User', 'externalIds:Group'].map(attributeOf)).toEqual([
      'userName',
      'displayName',
      'externalId',
      'externalId',
    ]);
  });
});
