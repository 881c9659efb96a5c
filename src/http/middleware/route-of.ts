// Turns the path of a request into a route for the log: paths name people, routes do not.

/** Every word that the addresses of the service consist of, as it is spelled there. */
const WORDS = new Map(
  [
    'scim v2 connections Users Groups .search Bulk Me ServiceProviderConfig ResourceTypes Schemas events keys',
    'admin v1 openapi.json status config doctor explain verify-access acts log plan apply reconcile sync resync',
    'hold release operations approvals links tokens dead-letters refused show search verify export import',
    'forget approve reject withdraw retry drop cancel deep repair',
  ]
    .flatMap((words) => words.split(' '))
    .map((word) => [word.toLowerCase(), word]),
);
/** The longest address of the service has six segments. */
const MAX_SEGMENTS = 8;

/**
 * `/scim/v2/Users/2819c223?attributes=id` becomes `/scim/v2/Users/{id}`. A segment that is no word of the service's own
 * addresses becomes `{id}`, so that no text of a client is left.
 * @param root what the path begins with and is kept, because it comes from the settings: the mount path of a connection
 */
export function routeOf(path: string, root = ''): string {
  const start = path.startsWith(root) ? root : '';
  const end = path.search(/[?#]/);
  const segments = path.slice(start.length, end < 0 ? undefined : end).split('/', MAX_SEGMENTS + 2);
  const route = segments.filter((each) => each !== '').map((each) => WORDS.get(each.toLowerCase()) ?? '{id}');
  if (route.length > MAX_SEGMENTS) route.splice(MAX_SEGMENTS, Infinity, '...');
  return `${start}/${route.join('/')}`;
}
