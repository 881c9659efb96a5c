// Tests SCIM errors, and the deviations that each profile accepts.
import { describe, expect, test } from '@jest/globals';
import * as scim from '../../../src/scim/index.ts';

describe('errors (RFC 7644 §3.12)', () => {
  const errors: [scim.ScimError, string][] = [
    [scim.invalidFilter('x'), '400 invalidFilter'],
    [scim.tooMany('x'), '400 tooMany'],
    [scim.uniqueness('x'), '409 uniqueness'],
    [scim.mutability('x'), '400 mutability'],
    [scim.invalidSyntax('x'), '400 invalidSyntax'],
    [scim.invalidPath('x'), '400 invalidPath'],
    [scim.noTarget('x'), '400 noTarget'],
    [scim.invalidValue('x'), '400 invalidValue'],
    [scim.unauthorized(), '401 undefined'],
    [scim.forbidden('x'), '403 undefined'],
    [scim.notFound('x'), '404 undefined'],
    [scim.methodNotAllowed(['GET', 'POST']), '405 undefined'],
    [scim.preconditionFailed('x'), '412 undefined'],
    [scim.payloadTooLarge('x'), '413 undefined'],
    [scim.unsupportedMediaType('x'), '415 undefined'],
    [scim.tooManyRequests('x', 1.2), '429 undefined'],
    [scim.notImplemented('x'), '501 undefined'],
    [scim.unavailable('x', 0), '503 undefined'],
  ];
  test.each(errors)(
    'an error answer has the status and scimType of RFC 7644 table 9: %s',
    (error, expected) => {
      expect(`${error.status} ${error.scimType}`).toBe(expected);
      const body = scim.errorBody(error);
      expect(body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error']);
      expect(body.status).toBe(String(error.status));
      expect('scimType' in body).toBe(error.scimType !== undefined);
    },
  );

  test('an error has the headers WWW-Authenticate, Allow and Retry-After in whole seconds', () => {
    expect(scim.unauthorized().headers['WWW-Authenticate']).toContain('Bearer');
    expect(scim.methodNotAllowed(['GET', 'PUT']).headers.Allow).toBe('GET, PUT');
    expect(scim.tooManyRequests('x', 1.2).headers['Retry-After']).toBe('2');
    expect(scim.unavailable('x', 0).headers['Retry-After']).toBe('1');
  });

  test('a uniqueness error has its status as text and a scimType, as Okta requires', () => {
    expect(scim.errorBody(scim.uniqueness('userName is taken'))).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '409',
      scimType: 'uniqueness',
      detail: 'userName is taken',
    });
  });
});

describe('deviations of profiles', () => {
  test('the profile rfc allows no deviation; auto and lenient allow each one and report it', () => {
    for (const { name } of scim.deviations) {
      const seen: string[] = [];
      expect(scim.profileOf('rfc', (kind) => seen.push(kind)).allows(name)).toBe(false);
      expect(seen).toEqual([]);
      expect(scim.profileOf('auto', (kind) => seen.push(kind)).allows(name)).toBe(true);
      expect(scim.profileOf('lenient', (kind) => seen.push(kind)).allows(name)).toBe(true);
      expect(seen).toEqual([name, name]);
    }
  });

  test('every deviation has its own name, a description and a source', () => {
    expect(new Set(scim.deviations.map(({ name }) => name)).size).toBe(scim.deviations.length);
    for (const { description, source } of scim.deviations) expect([description, source]).not.toContain('');
  });
});
