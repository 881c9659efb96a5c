// Names the SCIM operation of a request, for metrics and traces.
export const SCIM_OPERATIONS = [
  'list',
  'search',
  'get',
  'create',
  'replace',
  'patch',
  'delete',
  'bulk',
  'discovery',
  'me',
  'other',
] as const;
export type ScimOperation = (typeof SCIM_OPERATIONS)[number];

const ON_RESOURCE = new Map<string, ScimOperation>([
  ['GET', 'get'],
  ['PUT', 'replace'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const ON_COLLECTION = new Map<string, ScimOperation>([
  ['GET', 'list'],
  ['POST', 'create'],
]);
const DISCOVERY = new Set(['serviceproviderconfig', 'resourcetypes', 'schemas']);

/**
 * Returns the operation that method and path name; `other` for an address that SCIM does not have.
 * @param path path below the SCIM root, such as `/Users/2819c223?attributes=id`
 */
export function operationOf(method: string | undefined, path: string): ScimOperation {
  const queryAt = path.indexOf('?');
  const [_empty, endpoint = '', id = '', rest] = (queryAt < 0 ? path : path.slice(0, queryAt)).split('/', 4);
  // No SCIM address has a third segment.
  if (method === undefined || rest) return 'other';
  const name = endpoint.toLowerCase();
  if (name === 'users' || name === 'groups') {
    if (id === '') return ON_COLLECTION.get(method) ?? 'other';
    if (id === '.search') return method === 'POST' ? 'search' : 'other';
    return ON_RESOURCE.get(method) ?? 'other';
  }
  if (name === '.search' && method === 'POST') return 'search';
  if (name === 'bulk' && method === 'POST') return 'bulk';
  if (name === 'me') return 'me';
  return method === 'GET' && DISCOVERY.has(name) ? 'discovery' : 'other';
}
