// Defines the measured operations: for each one the request to the bridge and the comparison request.
import { Buffer } from 'node:buffer';
import { addMember, change, GROUP_ID, user, userId, userName } from './people.mjs';
import { TOKEN } from './processes.mjs';

/** Number of users that the comparison server can read. */
export const CEILING_TEXTS = 1000;
const BASE = '/scim/v2';
const PAGE = 100;

const scimHeaders = [`Authorization: Bearer ${TOKEN}`, 'Content-Type: application/scim+json'];
const plainHeaders = ['Content-Type: application/json'];

let unusedCount = 0;
/** Returns a value that was never used before, so that every write changes the resource. */
function unused() {
  unusedCount++;
  return `x${unusedCount.toString(36)}`;
}

/** The same two requests to the comparison server, whose figures are the ceiling (ceiling.mjs). */
export const ceilings = {
  write: {
    headers: plainHeaders,
    next: () => ({ method: 'POST', path: '/users', body: JSON.stringify(user(unused())) }),
  },
  read: {
    headers: plainHeaders,
    next: () => ({ method: 'GET', path: `/users/${Math.floor(Math.random() * CEILING_TEXTS)}` }),
  },
};

/**
 * Returns the measured operations for one bridge. The operation that adds members uses up users that POST created, so
 * each round runs POST first.
 * @param {number} users number of preloaded users
 */
export function createOperations(users) {
  /** Users without groups. */
  const createdIds = [];
  const randomUser = () => Math.floor(Math.random() * users);
  const userPath = (index) => `${BASE}/Users/${userId(index)}`;
  const make = (name, ceiling, next, onAnswer) => ({ name, ceiling, headers: scimHeaders, next, onAnswer });

  const keepId = (status, head) => {
    if (status !== 201) return;
    const id = /\r\nlocation: \S*\/([^/\s]+)/i.exec(head)?.[1];
    // Copied, because a slice would keep the whole response head in memory.
    if (id !== undefined) createdIds.push(Buffer.from(id).toString());
  };
  const patchOf = (body) => ({ method: 'PATCH', body: JSON.stringify(body) });

  return [
    make(
      'post',
      'write',
      () => ({ method: 'POST', path: `${BASE}/Users`, body: JSON.stringify(user(unused())) }),
      keepId,
    ),
    make('put', 'write', () => {
      const index = randomUser();
      return { method: 'PUT', path: userPath(index), body: JSON.stringify(user(index, unused())) };
    }),
    make('patch', 'write', () => ({ path: userPath(randomUser()), ...patchOf(change('title', unused())) })),
    make('member', 'write', () => {
      // When all created users are members, a value without a user is added: it changes the group too.
      const member = createdIds.pop() ?? unused();
      return { path: `${BASE}/Groups/${GROUP_ID}`, ...patchOf(addMember(member)) };
    }),
    make('get', 'read', () => ({ method: 'GET', path: userPath(randomUser()) })),
    make('find', 'read', () => {
      const filter = encodeURIComponent(`userName eq "${userName(randomUser())}"`);
      return { method: 'GET', path: `${BASE}/Users?filter=${filter}` };
    }),
    // Without a ceiling to compare with: the comparison server has no lists.
    make('page', undefined, () => {
      const startIndex = 1 + Math.floor(Math.random() * Math.max(1, users - PAGE));
      return { method: 'GET', path: `${BASE}/Users?startIndex=${startIndex}&count=${PAGE}` };
    }),
  ];
}
