// Generates hostile and nearly valid requests.
import { CUSTOM, ENTERPRISE, GROUP, PATCH_OP, SEARCH, USER } from '../contract/scim-conformance/client.ts';
import type { Chance } from './chance.ts';

export interface HostileRequest {
  method: string;
  path: string;
  body: unknown;
  headers: Record<string, string>;
}

const TEXTS = [
  '',
  ' ',
  'a',
  'True',
  'null',
  '0',
  '-1',
  '1e999',
  '2020-13-45T99:99:99Z',
  '2020-01-01T00:00:00Z',
  '__proto__',
  'constructor',
  'toString',
  'a"b',
  "a'b",
  'a\\b',
  '\0',
  '\n',
  'é',
  'e\u0301',
  '\u0130',
  '\u212a',
  '\u202e',
  '😀',
  '\ud800',
  '%00',
  '{{7*7}}',
  '$where',
  '../..',
  'bulkId:1',
  'x'.repeat(300),
  'y'.repeat(3000),
  'fuzz@corp.example',
];
const NAMES = [
  'id',
  'externalId',
  'meta',
  'meta.created',
  'schemas',
  'userName',
  'USERNAME',
  'name',
  'name.givenName',
  'name.nothing',
  'displayName',
  'active',
  'emails',
  'emails.value',
  'emails.primary',
  'emails.type',
  'phoneNumbers',
  'addresses.locality',
  'groups',
  'groups.value',
  'members',
  'members.value',
  'members.display',
  'password',
  'roles',
  'x509Certificates',
  'manager',
  'nothing',
  '__proto__',
  'constructor.prototype',
  '$ref',
  ENTERPRISE,
  `${ENTERPRISE}:manager`,
  `${ENTERPRISE}:department`,
  CUSTOM,
  `${CUSTOM}:region`,
  `${CUSTOM}:__proto__`,
  'urn:',
  ':',
  'urn:scim:schemas:extension:enterprise:1.0:department',
];
const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'EQ', 'pr', 'xx', ''];
const METHODS = [
  'GET',
  'GET',
  'GET',
  'POST',
  'POST',
  'PUT',
  'PATCH',
  'PATCH',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'HEAD',
];
const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['if-match', ['*', 'W/"1"', '"1"', 'W/"1", W/"2"', 'nonsense', '""', ',', 'W/"999999999999999999999"']],
  ['if-none-match', ['*', 'W/"1"', ',,', 'x']],
  [
    'content-type',
    ['text/plain', 'application/json; charset=latin1', 'application/json; charset=utf-8', 'x/y', ';'],
  ],
  ['accept', ['text/html', '*/*', 'application/json', ';;', 'application/scim+json; q=0']],
  ['content-encoding', ['gzip', 'identity', 'nonsense']],
  ['authorization', ['Bearer x', 'Basic eDp5', 'Bearer', '']],
  ['x-request-id', ['a b', '<script>', 'x'.repeat(2000)]],
];

/** @param known ids of created resources, which grows during the run */
export function createHostileRequests(chance: Chance, known: readonly string[]): () => HostileRequest {
  const { pick, once, below, some } = chance;
  const text = (): string => (once(5) ? some(6, () => pick(TEXTS).slice(0, 50)).join('') : pick(TEXTS));
  const id = (): string => (known.length > 0 && !once(4) ? pick(known) : text());

  function value(depth = 0): unknown {
    switch (below(depth > 3 ? 5 : 9)) {
      case 0:
        return pick([0, -0, 1, -1, 1.5, 1e308, 2 ** 53, true, false, null]);
      case 1:
      case 2:
      case 3:
        return text();
      case 4:
        return id();
      case 5:
        return some(4, () => value(depth + 1));
      case 6:
        return some(3, () => ({
          value: id(),
          type: pick(['work', 'home', 'x', 1]),
          primary: once(2),
          $ref: text(),
        }));
      default:
        return Object.fromEntries(
          some(5, () => [pick([...NAMES, 'value', 'type', '$ref', text()]), value(depth + 1)]),
        );
    }
  }

  function filter(depth = 0): string {
    const inner = (): string => filter(depth + 1);
    switch (below(depth > 4 ? 3 : 9)) {
      case 0:
        return `${pick(NAMES)} pr`;
      case 1:
      case 2:
      case 3:
        return `${pick(NAMES)} ${pick(OPERATORS)} ${once(3) ? text() : (JSON.stringify(value(9)) ?? '')}`;
      case 4:
        return `${inner()} and ${inner()}`;
      case 5:
        return `${inner()} or ${inner()}`;
      case 6:
        return `not (${inner()})`;
      case 7:
        return `${pick(NAMES)}[${inner()}]${once(3) ? '.value eq "x"' : ''}`;
      default:
        return once(20) ? '('.repeat(below(5000)) : `(${inner()}${once(10) ? '' : ')'}`;
    }
  }

  const parameters = (): Record<string, unknown> => ({
    ...(once(2) && { filter: filter() }),
    ...(once(3) && { sortBy: pick(NAMES), sortOrder: pick(['ascending', 'descending', 'x', 1]) }),
    ...(once(3) && { startIndex: pick([1, 0, -5, 2 ** 53, 'x', '1.5', '']) }),
    ...(once(3) && { count: pick([0, 1, 5, -1, 1e9, 'x', '']) }),
    ...(once(4) && { cursor: pick(['', 'x', 'W10', text()]) }),
    ...(once(4) && { attributes: some(3, () => pick(NAMES)).join(',') }),
    ...(once(4) && { excludedAttributes: some(3, () => pick(NAMES)).join(',') }),
  });

  const resource = (): object => ({
    schemas: once(8) ? value() : [pick([USER, GROUP])],
    userName: once(6) ? value() : `fuzz-${below(1e9)}@corp.example`,
    displayName: once(6) ? value() : `fuzz ${below(500)}`,
    ...(once(2) && { members: some(4, () => ({ value: id() })) }),
    ...(once(2) && Object.fromEntries(some(3, () => [pick(NAMES), value()]))),
  });

  const operation = (): object => ({
    op: once(12) ? value() : pick(['add', 'replace', 'remove', 'Add', 'REPLACE']),
    ...(!once(4) && {
      path: once(4) ? `${pick(NAMES)}[${filter(3)}]${once(2) ? '.value' : ''}` : pick(NAMES),
    }),
    ...(!once(5) && { value: value() }),
  });

  function message(): unknown {
    switch (below(6)) {
      case 0:
      case 1:
        return { schemas: [PATCH_OP], Operations: some(4, operation) };
      case 2:
        return { schemas: [SEARCH], ...parameters() };
      case 3:
        return { Operations: some(5, entry), failOnErrors: pick([0, 1, -1, 'x']) };
      case 4:
        return value();
      default:
        return resource();
    }
  }

  const entry = (): object => ({
    method: pick(METHODS),
    path: once(6)
      ? text()
      : pick(['/Users', '/Groups', `/Users/${id()}`, `/Groups/${id()}`, '/Users/bulkId:1']),
    bulkId: pick(['1', '2', text()]),
    data: once(3) ? { schemas: [PATCH_OP], Operations: some(2, operation) } : resource(),
  });

  /** Returns valid JSON in most cases, otherwise JSON with one defect. */
  function body(): unknown {
    const whole = once(2) ? resource() : message();
    if (!once(8)) return whole;
    const sound = JSON.stringify(whole) ?? '';
    const at = below(sound.length + 1);
    if (once(4)) return `${'['.repeat(below(3000))}${sound}`;
    return once(2) ? sound.slice(0, at) : sound.slice(0, at) + text() + sound.slice(at + below(3));
  }

  /** Returns a request with at most two defects: only an accepted request can cause damage. */
  function nearlySane(): HostileRequest {
    const endpoint = pick(['/Users', '/Groups']);
    const target = `${endpoint}/${encoded(id())}`;
    const operations = { schemas: [PATCH_OP], Operations: [operation(), ...some(1, operation)] };
    const [method, path, sent] = pick([
      ['POST', endpoint, resource()],
      ['POST', endpoint, resource()],
      ['PUT', target, resource()],
      ['PATCH', target, operations],
      ['PATCH', target, operations],
    ] as const);
    return { method, path, body: sent, headers: {} };
  }

  return () => {
    if (once(2)) return nearlySane();
    const method = pick(METHODS);
    const endpoint = pick([
      '/Users',
      '/Groups',
      '/users',
      '/.search',
      '/Bulk',
      '/Me',
      '/Schemas',
      '/ResourceTypes',
      '',
    ]);
    const rest = once(3)
      ? ''
      : pick([`/${encoded(id())}`, '/.search', `/${encoded(id())}/${encoded(text())}`, '//']);
    const query = once(3)
      ? `?${Object.entries(parameters())
          .map(([key, each]) => `${key}=${encoded(String(each))}`)
          .join('&')}`
      : '';
    const headers = Object.fromEntries(
      some(2, () => pick(HEADERS)).map(([name, values]) => [name, pick(values)]),
    );
    const hasBody = method !== 'GET' && method !== 'HEAD' && !once(20);
    return {
      method,
      path: endpoint + rest + query.slice(0, 12_000),
      body: hasBody ? body() : undefined,
      headers,
    };
  };
}

/** A lone surrogate cannot be part of a URL, and dots alone would leave the SCIM root. */
const encoded = (part: string): string =>
  encodeURIComponent(part.toWellFormed().slice(0, 3000)).replaceAll('.', '%2E%20');
