// Tests the operation names of requests in the metrics.
import { operationOf, SCIM_OPERATIONS } from '../../../src/http/middleware/request-context.ts';

test.each([
  ['GET', '/Users', 'list'],
  ['GET', '/users?filter=userName eq "a/b/c"', 'list'],
  ['POST', '/Users', 'create'],
  ['GET', '/Groups/123', 'get'],
  ['PUT', '/Users/123', 'replace'],
  ['PATCH', '/Groups/123?attributes=id', 'patch'],
  ['DELETE', '/Users/123', 'delete'],
  ['POST', '/Users/.search', 'search'],
  ['POST', '/.search', 'search'],
  ['POST', '/Bulk', 'bulk'],
  ['GET', '/Me', 'me'],
  ['GET', '/ServiceProviderConfig', 'discovery'],
  ['GET', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User', 'discovery'],
  ['PUT', '/Users', 'other'],
  ['GET', '/Users/1/2', 'other'],
  ['FROB', '/Users/1', 'other'],
  ['GET', '/', 'other'],
  ['GET', '', 'other'],
  ['POST', '/constructor', 'other'],
  ['constructor', '/Users', 'other'],
])('the request %s %s counts as the operation %s', (method, path, operation) => {
  expect(operationOf(method, path)).toBe(operation);
});

test('every method and path counts as one of the eleven SCIM_OPERATIONS', () => {
  const known = new Set<string>(SCIM_OPERATIONS);
  for (let n = 0; n < 200; n++) {
    for (const method of ['GET', 'POST', `M${n}`]) {
      for (const path of [`/Users/${n}`, `/x${n}`, `/Users/${n}/x`, `/${n}?a=${n}`]) {
        expect(known).toContain(operationOf(method, path));
      }
    }
  }
});
