// Changes accounts and groups at the platform without the bridge.
import type { Place } from './situation.ts';

/** Changes an account or a group as a person does by hand, with the platform's SCIM interface. */
export async function byHand(
  { sandbox }: Pick<Place, 'sandbox'>,
  method: string,
  path: string,
  ...operations: object[]
): Promise<void> {
  const { platformUrl, fixtures } = sandbox.ready;
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
  const answer = await fetch(`${platformUrl}/api/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    ...(operations.length > 0 ? { body: JSON.stringify({ schemas, Operations: operations }) } : {}),
  });
  expect(answer.ok).toBe(true);
}
