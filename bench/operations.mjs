// Defines the measured operations: for each one the request to the bridge and the comparison request.
import { Buffer } from 'node:buffer';
import { addMember, change, GROUP_ID, user, userId, userName } from './people.mjs';
import { TOKEN } from './processes.mjs';

export const CEILING_TEXTS = 1000;
const BASE = '/scim/v2';
const PAGE = 100;

const scimHeaders = [`Authorization: Bearer ${TOKEN}`, 'Content-Type: application/scim+json'];
const plainHeaders = ['Content-Type: application/json'];

/** Counter for values that were never used before, so that every write changes the resource. */
let serial = 0;
const unused = () => `x${(serial++).toString(36)}`;

/** The two requests of the comparison server. */
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
 * Returns the requests to one bridge. `createdIds` are users without groups that POST created. The operation
 * that adds members uses them up, so each round runs POST first. @param {number} users number of preloaded
 * users
 */
export function createOperations(users) {
  const createdIds = [];
  const someone = () => Math.floor(Math.random() * users);
  const one = (index) => `${BASE}/Users/${userId(index)}`;
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
      const index = someone();
      return { method: 'PUT', path: one(index), body: JSON.stringify(user(index, unused())) };
    }),
    make('patch', 'write', () => ({ path: one(someone()), ...patchOf(change('title', unused())) })),
    make('member', 'write', () => {
      const member = createdIds.pop() ?? unused();
      return { path: `${BASE}/Groups/${GROUP_ID}`, ...patchOf(addMember(member)) };
    }),
    make('get', 'read', () => ({ method: 'GET', path: one(someone()) })),
    make('find', 'read', () => {
      const filter = encodeURIComponent(`userName eq "${userName(someone())}"`);
      return { method: 'GET', path: `${BASE}/Users?filter=${filter}` };
    }),
    make('page', undefined, () => {
      const startIndex = 1 + Math.floor(Math.random() * Math.max(1, users - PAGE));
      return { method: 'GET', path: `${BASE}/Users?startIndex=${startIndex}&count=${PAGE}` };
    }),
  ];
}
