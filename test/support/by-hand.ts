// Changes accounts, groups and definitions of attributes at the platform without the bridge.
import { send } from './send.ts';
import type { Place } from './situation.ts';

type AtSandbox = Pick<Place, 'sandbox'>;

/** Calls the platform as an administrator. @returns the body of the answer @throws when the platform refuses */
export async function atPlatform(
  { sandbox }: AtSandbox,
  method: string,
  path: string,
  body?: object,
): Promise<any> {
  const { platformUrl, fixtures } = sandbox.ready;
  const headers = { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' };
  const answer = await send(platformUrl, method, path, { headers, body });
  expect(answer.status).toBeLessThan(300);
  return answer.body;
}

/** Changes an account or a group as a person does by hand, with the platform's SCIM interface. */
export async function byHand(
  place: AtSandbox,
  method: string,
  path: string,
  ...operations: object[]
): Promise<void> {
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
  const body = operations.length > 0 ? { schemas, Operations: operations } : undefined;
  await atPlatform(place, method, `/api/scim/v2${path}`, body);
}

/** Creates an account or a group as a person does by hand. */
export async function createByHand(place: AtSandbox, path: 'Users' | 'Groups', body: object): Promise<void> {
  const type = path === 'Users' ? 'User' : 'Group';
  const schemas = [`urn:ietf:params:scim:schemas:core:2.0:${type}`];
  await atPlatform(place, 'POST', `/api/scim/v2/${path}`, { schemas, ...body });
}

/** Deletes the definition of an attribute with all its values, and creates it with this type. */
export async function remakeDefinition(place: AtSandbox, name: string, type: string): Promise<void> {
  const { data } = await atPlatform(place, 'GET', '/api/v1/user-attributes');
  const { id } = data.find((definition: { name: string }) => definition.name === name);
  await atPlatform(place, 'DELETE', `/api/v1/user-attributes/${id}`);
  await atPlatform(place, 'POST', '/api/v1/user-attributes', { name, type });
}
