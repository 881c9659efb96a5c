// Tests the route of a request path in the log, which contains no id and no name.
import { routeOf } from '../../../src/http/middleware/request-context.ts';

test.each([
  ['/Users', '/scim/v2/Users'],
  ['/users?filter=userName eq "jo@x.example"', '/scim/v2/Users'],
  ['/Users?filter=a/b', '/scim/v2/Users'],
  ['/Users/2819c223', '/scim/v2/Users/{id}'],
  ['/Users/jo%40x.example', '/scim/v2/Users/{id}'],
  ['/Users/.search', '/scim/v2/Users/.search'],
  ['/Groups/Legal%20Case%207', '/scim/v2/Groups/{id}'],
  ['//Users//1', '/scim/v2/Users/{id}'],
  ['/Schemas/urn:ietf:params:scim:schemas:core:2.0:User', '/scim/v2/Schemas/{id}'],
  ['/jo@x.example', '/scim/v2/{id}'],
  ['/constructor/__proto__', '/scim/v2/{id}/{id}'],
  ['/Users/1#jo@x.example', '/scim/v2/Users/{id}'],
  ['', '/scim/v2/'],
])('the log route of the request path %s below a SCIM root is %s', (path, route) => {
  expect(routeOf(`/scim/v2${path}`, '/scim/v2')).toBe(route);
});

test('the log route keeps a configured mount path, and replaces this text when a client sends it elsewhere', () => {
  expect(routeOf('/connections/acme/scim/v2/Users/1', '/connections/acme/scim/v2')).toBe(
    '/connections/acme/scim/v2/Users/{id}',
  );
  expect(routeOf('/connections/jo@x.example/scim/v2/Users/1')).toBe('/connections/{id}/scim/v2/Users/{id}');
  expect(routeOf('http://jo.example/scim/v2/Users/1', '/scim/v2')).toBe('/{id}/{id}/scim/v2/Users/{id}');
});

test('the log route of a path with more than eight segments ends with ... after the eighth', () => {
  expect(routeOf('/x'.repeat(8000))).toBe(`${'/{id}'.repeat(8)}/...`);
});
