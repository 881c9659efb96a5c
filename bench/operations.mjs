// What is measured: one entry per figure, with the request that makes it and the ceiling that it is held against.
import { Buffer } from 'node:buffer';
import { addMember, change, GROUP_ID, user, userId, userName } from './people.mjs';
import { TOKEN } from './processes.mjs';

export const CEILING_TEXTS = 1000;
const BASE = '/scim/v2';
const PAGE = 100;

const scimHeaders = [`Authorization: Bearer ${TOKEN}`, 'Content-Type: application/scim+json'];
const plainHeaders = ['Content-Type: application/json'];

/** Text that was never used before, so that every write is a change. */
let serial = 0;
const unused = () => `x${(serial++).toString(36)}`;

/** The two requests of the ceiling. */
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
 * The requests to one bridge. `createdIds` are users that POST made there, who are in no group yet: member adds use
 * them up, so a round posts before it adds.
 * @param {number} users how many are preloaded
 */
export function createOperations(users) {
  const createdIds = [];
  const someone = () => Math.floor(Math.random() * users);
  const one = (index) => `${BASE}/Users/${userId(index)}`;
  const make = (name, ceiling, next, onAnswer) => ({ name, ceiling, headers: scimHeaders, next, onAnswer });

  const keepId = (status, head) => {
    if (status !== 201) return;
    const id = /\r\nlocation: \S*\/([^/\s]+)/i.exec(head)?.[1];
    // A copy of its own: a slice would keep the whole head in memory.
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
