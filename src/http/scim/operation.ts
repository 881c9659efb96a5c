// Names the operation of a SCIM request for metrics and traces: a path would be a label value without bound.

export const OPERATIONS = [
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
export type Operation = (typeof OPERATIONS)[number];

const ON_ONE = new Map<string, Operation>([
  ['GET', 'get'],
  ['PUT', 'replace'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const ON_ALL = new Map<string, Operation>([
  ['GET', 'list'],
  ['POST', 'create'],
]);
const DISCOVERY = new Set(['serviceproviderconfig', 'resourcetypes', 'schemas']);

/** @param path below the SCIM root, such as `/Users/2819c223`; a query may follow */
export function operationOf(method: string | undefined, path: string): Operation {
  const query = path.indexOf('?');
  const [, endpoint = '', id = '', rest] = (query < 0 ? path : path.slice(0, query)).split('/', 4);
  if (method === undefined || rest) return 'other';
  const name = endpoint.toLowerCase();
  if (name === 'users' || name === 'groups') {
    if (id === '') return ON_ALL.get(method) ?? 'other';
    if (id === '.search') return method === 'POST' ? 'search' : 'other';
    return ON_ONE.get(method) ?? 'other';
  }
  if (name === '.search' && method === 'POST') return 'search';
  if (name === 'bulk' && method === 'POST') return 'bulk';
  if (name === 'me') return 'me';
  return method === 'GET' && DISCOVERY.has(name) ? 'discovery' : 'other';
}
