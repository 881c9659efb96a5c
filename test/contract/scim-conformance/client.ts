// Provides a SCIM client that checks every answer: SCIM JSON, and never 5xx.
import type { ConnectionConfig } from '../../../src/config/schema/connection.ts';
import { buildBridge, TOKEN, type Bridge, type BridgeOptions } from '../../support/build-bridge.ts';
import { send as sendRequest } from '../../support/send.ts';

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const CUSTOM = 'urn:cube:params:1.0:UserAttribute';
export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
export const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

/** Parsed JSON of any shape. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  body: Json;
}

/** `undefined` removes a default header. */
export type Headers = Record<string, string | string[] | undefined>;

export interface Client {
  /** Address of the SCIM root. */
  root: string;
  port: number;
  /** `body`: text and bytes are sent unchanged, other values as JSON. */
  send(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answer>;
  get(path: string, headers?: Headers): Promise<Answer>;
  post(path: string, body: unknown, headers?: Headers): Promise<Answer>;
  put(path: string, body: unknown, headers?: Headers): Promise<Answer>;
  patch(path: string, ...operations: unknown[]): Promise<Answer>;
  delete(path: string, headers?: Headers): Promise<Answer>;
  /** Returns all resources that the filter finds. */
  find(endpoint: string, filter: string): Promise<Json[]>;
  /** Creates a user with typical attributes. @returns the created resource */
  user(userName: string, extra?: object): Promise<Json>;
  /** @returns the created resource */
  group(displayName: string, members?: string[]): Promise<Json>;
}

export function createClient(port: number, path = '/scim/v2', token = TOKEN): Client {
  const root = `http://127.0.0.1:${port}${path}`;
  const send: Client['send'] = async (method, target, body, headers = {}) => {
    const answer = await sendRequest(/^https?:/.test(target) ? '' : root, method, target, {
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': body === undefined ? undefined : 'application/scim+json',
        ...headers,
      },
      body,
    });
    return toAnswer(`${method} ${target.slice(0, 300)}`, answer.status, answer.headers, answer.text);
  };
  const created = (answer: Answer): Json => {
    if (answer.status !== 201) throw new Error(`POST answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  return {
    root,
    port,
    send,
    get: (target, headers) => send('GET', target, undefined, headers),
    post: (target, body, headers) => send('POST', target, body, headers),
    put: (target, body, headers) => send('PUT', target, body, headers),
    patch: (target, ...Operations) => send('PATCH', target, { schemas: [PATCH_OP], Operations }),
    delete: (target, headers) => send('DELETE', target, undefined, headers),
    find: async (endpoint, filter) => {
      const answer = await send('GET', `${endpoint}?filter=${encodeURIComponent(filter)}`);
      if (answer.status !== 200) throw new Error(`${filter} answered ${answer.status}: ${answer.text}`);
      return answer.body.Resources as Json[];
    },
    user: async (userName, extra = {}) => created(await send('POST', '/Users', userBody(userName, extra))),
    group: async (displayName, members = []) =>
      created(
        await send('POST', '/Groups', {
          schemas: [GROUP],
          displayName,
          members: members.map((value) => ({ value })),
        }),
      ),
  };
}

export const userBody = (userName: string, extra: object = {}): object => ({
  schemas: [USER],
  userName,
  externalId: `ext-${userName}`,
  name: { givenName: 'Jo', familyName: 'Doe' },
  displayName: `Jo ${userName}`,
  emails: [{ value: userName, type: 'work', primary: true }],
  active: true,
  ...extra,
});

/** Checks an answer against RFC 7644 §3.8 and §3.12. @throws Error when the answer violates them */
export function toAnswer(what: string, status: number, headers: Answer['headers'], text: string): Answer {
  const fail = (fault: string): never => {
    throw new Error(`${what}: ${fault} (${status} ${text.slice(0, 300)})`);
  };
  // Too many concurrent requests are answered with 503 and Retry-After.
  const isRefusal = status === 501 || (status === 503 && /^\d+$/.test(String(headers['retry-after'])));
  if (status >= 500 && !isRefusal) fail('a request must never give a 5xx');
  if (text === '') return { status, headers, text, body: undefined };
  if (headers['content-type'] !== 'application/scim+json') {
    fail(`media type is ${String(headers['content-type'])}`);
  }
  const body = JSON.parse(text);
  if (status >= 400) {
    if (body.schemas?.[0] !== ERROR) fail('an error needs the Error schema');
    if (body.status !== String(status)) fail('"status" must be the status code as text');
    if (typeof body.detail !== 'string') fail('an error needs a detail');
  }
  return { status, headers, text, body };
}

/** Starts a bridge of role api, and a client for its default connection. */
export async function startApi(options: BridgeOptions = {}): Promise<{ bridge: Bridge; scim: Client }> {
  const bridge = await buildBridge({ role: 'api', ...options });
  return { bridge, scim: createClient(bridge.app.port) };
}

export const PROFILES = ['auto', 'entra', 'okta', 'lenient', 'rfc'] as const;
export type ProfileName = (typeof PROFILES)[number];

/** Starts one bridge with a connection for every profile; the token of each is `token-of-<profile>-0123456789`. */
export async function startProfiles(
  extra: Partial<ConnectionConfig> = {},
): Promise<{ bridge: Bridge; on: Record<ProfileName, Client> }> {
  const tokenOf = (name: string): string => `token-of-${name}-0123456789`;
  const bridge = await buildBridge({
    role: 'api',
    configure: (config) => {
      for (const name of PROFILES) {
        config.connections[name] = {
          name,
          profile: name,
          tokens: [{ name: 'primary', secret: tokenOf(name) }],
          allowedNetworks: [],
          targets: ['main'],
          schemas: [],
          ...extra,
        };
      }
    },
  });
  const client = (name: ProfileName): Client =>
    createClient(bridge.app.port, `/connections/${name}/scim/v2`, tokenOf(name));
  const on = Object.fromEntries(PROFILES.map((name) => [name, client(name)])) as Record<ProfileName, Client>;
  return { bridge, on };
}
