// Tests the security headers of JSON answers, which keep a browser from rendering or running them.
import { generateKeyPairSync } from 'node:crypto';
import { ADMIN_TOKEN, TOKEN } from '../../support/build-bridge.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const POLL_TOKEN = 'a-token-of-the-receiver-0123456789';
const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdmin({
    configure: ({ connections }) => {
      const { default: base } = connections;
      if (!base) throw new Error('there is no connection');
      base.events = {
        issuer: 'https://bridge.example.com',
        audience: 'receiver',
        otherKeys: [],
        push: null,
        externalIds: false,
        mostPending: 1000,
        maxAgeMs: 3_600_000,
        key: KEY.export({ format: 'pem', type: 'pkcs8' }).toString(),
        poll: { token: POLL_TOKEN },
      };
    },
  });
}, 60_000);
afterAll(() => rig.bridge.stop());

const EVENTS = '/connections/default/events';
const USER = '{"userName":"jo@x.example"}';
const NONE = undefined;

test.each<[string, string, string | undefined, string | undefined, number]>([
  ['GET', '/scim/v2/Users', TOKEN, NONE, 200],
  ['POST', '/scim/v2/Users', TOKEN, USER, 201],
  ['POST', '/scim/v2/Users', TOKEN, USER, 409],
  ['POST', '/scim/v2/Users', TOKEN, '{', 400],
  ['GET', '/scim/v2/Users/none', TOKEN, NONE, 404],
  ['GET', '/scim/v2/Users', 'wrong', NONE, 401],
  ['PUT', '/scim/v2/Users', TOKEN, '{}', 405],
  ['GET', '/scim/v2/ServiceProviderConfig', NONE, NONE, 200],
  ['GET', '/scim/v2/Users/%zz', TOKEN, NONE, 400],
  ['GET', '/nowhere', NONE, NONE, 404],
  ['GET', '/admin/nowhere', NONE, NONE, 404],
  ['GET', '/admin/v1/status', ADMIN_TOKEN, NONE, 200],
  ['GET', '/admin/v1/openapi.json', ADMIN_TOKEN, NONE, 200],
  ['GET', '/admin/v1/log', ADMIN_TOKEN, NONE, 200],
  ['GET', '/admin/v1/status', NONE, NONE, 401],
  ['GET', '/admin/v1/nowhere', ADMIN_TOKEN, NONE, 404],
  ['GET', '/admin/v1/%zz', ADMIN_TOKEN, NONE, 404],
  ['POST', '/admin/v1/hold', ADMIN_TOKEN, '{', 400],
  ['DELETE', '/admin/v1/status', ADMIN_TOKEN, NONE, 405],
  ['GET', '/livez', NONE, NONE, 200],
  ['GET', '/readyz', NONE, NONE, 200],
  ['GET', '/health', ADMIN_TOKEN, NONE, 200],
  ['GET', '/health', 'wrong', NONE, 401],
  ['GET', `${EVENTS}/keys`, NONE, NONE, 200],
  ['POST', EVENTS, POLL_TOKEN, '{"returnImmediately":true}', 200],
  ['POST', EVENTS, 'wrong', '{}', 401],
  ['GET', `${EVENTS}/nowhere`, NONE, NONE, 404],
])(
  'the answer to %s %s with the token %p and the body %p has the status %p, nosniff and a content security policy',
  async (method, path, token, body, status) => {
    const answer = await rig.raw(path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/json/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  },
);
