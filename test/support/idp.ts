// Provides a SCIM client that pushes like an identity provider.
import { send as sendRequest, type Reply } from './send.ts';

export type IdpAnswer = Reply;

export interface Idp {
  baseUrl: string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<IdpAnswer>;
  /** POST /Users with typical attributes. @returns the id */
  createUser(userName: string, extra?: object): Promise<string>;
  /** POST /Groups. @returns the id */
  createGroup(displayName: string, members?: string[]): Promise<string>;
  patch(path: string, ...operations: object[]): Promise<IdpAnswer>;
}

export function createIdp(baseUrl: string, token: string): Idp {
  const send: Idp['send'] = (method, path, body, headers = {}) =>
    sendRequest(baseUrl, method, path, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json', ...headers },
      body,
    });
  const created = (answer: IdpAnswer): string => {
    if (answer.status !== 201)
      throw new Error(`POST answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.id as string;
  };
  return {
    baseUrl,
    send,
    createUser: async (userName, extra = {}) =>
      created(
        await send('POST', '/Users', {
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
          userName,
          externalId: `ext-${userName}`,
          name: { givenName: 'Jo', familyName: 'Doe' },
          displayName: `Jo ${userName}`,
          emails: [{ value: userName, type: 'work', primary: true }],
          active: true,
          ...extra,
        }),
      ),
    createGroup: async (displayName, members = []) =>
      created(
        await send('POST', '/Groups', {
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
          displayName,
          members: members.map((value) => ({ value })),
        }),
      ),
    patch: (path, ...operations) =>
      send('PATCH', path, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: operations,
      }),
  };
}
