// Starts a sandbox and provides functions for HTTP requests to it.
import { startSandbox, type SandboxOptions } from '../../../src/sandbox/server.ts';
import { send } from '../../support/send.ts';

export const EXTENSION = 'urn:cube:params:1.0:UserAttribute';
export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const USERS = '/api/scim/v2/Users';
export const GROUPS = '/api/scim/v2/Groups';

export interface Extras {
  /** Credential sent as Bearer; by default the admin key, null: none. */
  key?: string | null;
  headers?: Record<string, string>;
  body?: unknown;
  /** Unencoded body in place of `body`. */
  raw?: string;
}

/** Starts a sandbox; `call` sends to the platform, `control` to the control port. */
export async function startRig(options: SandboxOptions = {}) {
  const { ready, stop } = await startSandbox(options);
  const { apiKeys } = ready.fixtures;

  function exchange(base: string, method: string, path: string, extras: Extras) {
    const body = extras.raw ?? (extras.body === undefined ? undefined : JSON.stringify(extras.body));
    const key = extras.key === undefined ? apiKeys['admin'] : extras.key;
    return send(base, method, path, {
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...extras.headers,
      },
      body,
    });
  }
  const call = (method: string, path: string, extras: Extras = {}) =>
    exchange(ready.platformUrl, method, path, extras);
  const control = (method: string, path: string, body?: unknown) =>
    exchange(ready.controlUrl, method, path, { key: null, body });

  return {
    ready,
    stop,
    call,
    control,
    /** Returns an API key of the seed by name; `admin` is used where none is given. */
    key: (name: string) => apiKeys[name] ?? '',
    state: async () => (await control('GET', '/state')).body,
    reset: () => control('POST', '/reset', { seed: 'small' }),
    post: (path: string, body: unknown) => call('POST', path, { body }),
    patch: (path: string, ...operations: unknown[]) =>
      call('PATCH', path, { body: { schemas: [PATCH_OP], Operations: operations } }),
    /** Creates a SCIM user and returns the resource. */
    user: async (userName: string, more: object = {}) =>
      (await call('POST', USERS, { body: { userName, ...more } })).body,
    /** Creates a SCIM group of users and returns the resource. */
    group: async (displayName: string, members: { id: string }[] = []) =>
      (
        await call('POST', GROUPS, {
          body: { displayName, members: members.map(({ id }) => ({ value: id })) },
        })
      ).body,
    /** Creates an attribute definition and returns it. */
    attribute: async (name: string, type: string, more: object = {}) =>
      (await call('POST', '/api/v1/user-attributes', { body: { name, type, ...more } })).body,
    /** Returns the user with that name from the control state. */
    stored: async (userName: string) => {
      const { body } = await control('GET', '/state?only=users');
      return body.users.find((user: { userName: string }) => user.userName === userName);
    },
    /** Returns the group with that name from the control state. */
    storedGroup: async (displayName: string) => {
      const { body } = await control('GET', '/state?only=groups');
      return body.groups.find((group: { displayName: string }) => group.displayName === displayName);
    },
  };
}

export type Rig = Awaited<ReturnType<typeof startRig>>;
