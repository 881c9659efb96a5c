// Serves a platform in memory that answers every call after a fixed delay. GET /counts returns the number of calls by
// kind and the times of the first and the last call; DELETE /counts sets them to zero. Usage:
// first-load-platform.mjs <port> <milliseconds per answer>
import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';
import { Buffer } from 'node:buffer';
import process from 'node:process';
import { setTimeout } from 'node:timers';
import { URL } from 'node:url';

const [port, waitMs] = process.argv.slice(2).map(Number);
const EXTENSION = 'urn:cube:params:1.0:UserAttribute';
const LONGEST_PAGE = 1000;
/** Page size of the platform for a request without `count`. */
const DEFAULT_PAGE = 20;
const users = { byId: new Map(), byName: new Map(), byExternalId: new Map() };
const groups = { byId: new Map(), byName: new Map() };
const definitions = new Map();
const counts = { calls: {}, firstAt: 0, lastAt: 0, inFlight: 0, mostInFlight: 0 };

const found = (body) => ({ status: 200, body });
const refused = (status) => ({ status, body: { schemas: [], status: String(status) } });

function list(all, query, show = (each) => each) {
  const start = Math.max(1, Number(query.get('startIndex') ?? 1));
  const count = Math.min(LONGEST_PAGE, Number(query.get('count') ?? DEFAULT_PAGE));
  const page = all.slice(start - 1, start - 1 + count).map(show);
  return found({ totalResults: all.length, startIndex: start, itemsPerPage: page.length, Resources: page });
}

/** Returns the resources that the filter `<name> eq "<value>"` selects; all without a filter. */
function select(query, all, indexes) {
  const filter = /^(\w+) eq "(.*)"$/.exec(query.get('filter') ?? '');
  if (!filter) return [...all.values()];
  const hit = indexes[filter[1]]?.get(JSON.parse(`"${filter[2]}"`).toLowerCase());
  return hit ? [hit] : [];
}

function createUser(body) {
  const key = body.userName.toLowerCase();
  if (users.byName.has(key)) return refused(409);
  const number = users.byId.size + 1;
  const user = { ...body, id: `scim-${number}`, number };
  users.byId.set(user.id, user);
  users.byName.set(key, user);
  if (user.externalId) users.byExternalId.set(user.externalId.toLowerCase(), user);
  return { status: 201, body: user };
}

function patchUser(user, { Operations }) {
  for (const { op, path, value } of Operations) {
    if (path.startsWith(`${EXTENSION}:`)) {
      const name = path.slice(`${EXTENSION}:`.length);
      if (!definitions.has(name)) return refused(400);
      user[EXTENSION] = { ...user[EXTENSION], [name]: op === 'remove' ? undefined : value };
    } else if (path.startsWith('name.')) {
      user.name = { ...user.name, [path.slice('name.'.length)]: value };
    } else user[path] = op === 'remove' ? undefined : value;
  }
  return found(user);
}

function patchGroup(group, { Operations }) {
  for (const { op, path, value } of Operations) {
    if (path === 'members' && op === 'add') for (const each of value) group.members.add(each.value);
    else if (op === 'remove') group.members.delete(/"(.*)"/.exec(path)?.[1]);
    else group[path] = value;
  }
  return found({ id: group.id, displayName: group.displayName });
}

function createGroup({ displayName }) {
  if (groups.byName.has(displayName.toLowerCase())) return refused(409);
  const group = { id: `group-${groups.byId.size + 1}`, displayName, members: new Set() };
  groups.byId.set(group.id, group);
  groups.byName.set(displayName.toLowerCase(), group);
  return { status: 201, body: { id: group.id, displayName } };
}

const toAccount = (user) => ({
  id: user.number,
  email: user.userName,
  username: user.userName,
  isAdmin: false,
});

const define = ({ name, type }) => {
  const definition = { id: definitions.size + 1, name, type };
  definitions.set(name, definition);
  return found(definition);
};

function setValue({ userId, userAttributeId, value }) {
  const user = users.byId.get(`scim-${userId}`);
  const definition = [...definitions.values()].find(({ id }) => String(id) === userAttributeId);
  if (!user || !definition) return refused(404);
  // null clears the value.
  user[EXTENSION] = { ...user[EXTENSION], [definition.name]: value ?? undefined };
  return found({ userId: Number(userId), userAttributeId: definition.id, name: definition.name, value });
}

/** Indexes by the name of the filtered attribute. */
const indexes = { userName: users.byName, externalId: users.byExternalId, displayName: groups.byName };
const lastPart = (path) => decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
/** Each row is [kind, method, path, answer(body, query, path)]; the first row that fits answers a request. */
const ROUTES = [
  ['list users', 'GET', /\/Users$/, (_, query) => list(select(query, users.byId, indexes), query)],
  ['create user', 'POST', /\/Users$/, (body) => createUser(body)],
  ['read user', 'GET', /\/Users\/[^/]+$/, (_, __, path) => one(users, path, found)],
  [
    'patch user',
    'PATCH',
    /\/Users\/[^/]+$/,
    (body, _, path) => one(users, path, (user) => patchUser(user, body)),
  ],
  [
    'list groups',
    'GET',
    /\/Groups$/,
    (_, query) =>
      list(select(query, groups.byId, indexes), query, ({ id, displayName }) => ({ id, displayName })),
  ],
  ['create group', 'POST', /\/Groups$/, (body) => createGroup(body)],
  [
    'patch group',
    'PATCH',
    /\/Groups\/[^/]+$/,
    (body, _, path) => one(groups, path, (each) => patchGroup(each, body)),
  ],
  [
    'key owner',
    'GET',
    /\/users\/me$/,
    () => found({ id: 0, username: 'key', email: 'key@bench', isAdmin: true }),
  ],
  [
    'search accounts',
    'GET',
    /\/v1\/users$/,
    (_, query) => {
      const hit = users.byName.get((query.get('search') ?? '').toLowerCase());
      return found({ items: hit ? [toAccount(hit)] : [], pageInfo: { hasNextPage: false } });
    },
  ],
  ['list definitions', 'GET', /\/user-attributes$/, () => found({ items: [...definitions.values()] })],
  ['define attribute', 'POST', /\/user-attributes$/, (body) => define(body)],
  ['set value', 'POST', /\/user-attribute-values$/, (body) => setValue(body)],
  ['read values', 'GET', /\/user-attribute-values\/\d+$/, () => found([])],
];

/** Returns `then(resource)` for the resource whose id ends the path, or 404. */
function one({ byId }, path, then) {
  const hit = byId.get(lastPart(path));
  return hit ? then(hit) : refused(404);
}

function kindOf(kind, query) {
  if (kind !== 'list users') return kind;
  return query.has('filter') ? `look up by ${query.get('filter').split(' ')[0]}` : kind;
}

function answer(method, url, text) {
  const { pathname, searchParams } = new URL(url, 'http://double');
  const route = ROUTES.find(([, verb, path]) => verb === method && path.test(pathname));
  const kind = route ? kindOf(route[0], searchParams) : `${method} ${pathname}`;
  counts.calls[kind] = (counts.calls[kind] ?? 0) + 1;
  return route ? route[3](text === '' ? {} : JSON.parse(text), searchParams, pathname) : refused(404);
}

/** Returns the counts, and resets them for DELETE. */
function control(method) {
  const members = Object.fromEntries([...groups.byName].map(([name, { members: all }]) => [name, all.size]));
  const active = [...users.byId.values()].filter((user) => user.active === true).length;
  const text = JSON.stringify({ ...counts, users: users.byId.size, active, members });
  if (method === 'DELETE') Object.assign(counts, { calls: {}, firstAt: 0, lastAt: 0, mostInFlight: 0 });
  return text;
}

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const headers = { 'content-type': 'application/json' };
    if (request.url === '/counts') return response.writeHead(200, headers).end(control(request.method));
    counts.firstAt ||= performance.now();
    counts.mostInFlight = Math.max(counts.mostInFlight, ++counts.inFlight);
    setTimeout(() => {
      const { status, body } = answer(request.method, request.url, Buffer.concat(chunks).toString());
      counts.inFlight--;
      counts.lastAt = performance.now();
      response.writeHead(status, headers).end(JSON.stringify(body));
    }, waitMs);
  });
}).listen(port, '127.0.0.1');
