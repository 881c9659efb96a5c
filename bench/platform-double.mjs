// Serves a platform whose state equals the directory. It answers every call after a fixed delay, and GET /writes
// returns the number of write requests. Usage:
// platform-double.mjs <users> <groups> <members per group> <port> <milliseconds per answer>
import { createServer } from 'node:http';
import process from 'node:process';
import { setTimeout } from 'node:timers';
import { URL } from 'node:url';
import { groupName, groupOf, observedUser } from './estate.mjs';

const [users, groups, membersEach, port, waitMs] = process.argv.slice(2).map(Number);
const LONGEST_PAGE = 1000;
/** Page size of the platform for a request without `count`. */
const DEFAULT_PAGE = 20;
const changedAt = '2026-01-01T00:00:00.000Z';
const SCIM = '/api/scim/v2';
const texts = new Map();
let writes = 0;

/** Returns a user as JSON. The texts are cached, so that the measurement does not include the cost of building them. */
function userText(index) {
  if (!texts.has(index)) texts.set(index, JSON.stringify(observedUser(index, changedAt)));
  return texts.get(index);
}

function groupText(index, { withMembers }) {
  const members = Array.from({ length: membersEach }, (_, each) => ({
    value: `scim-${(index * membersEach + each) % users}`,
  }));
  return JSON.stringify({
    id: `group-${index}`,
    displayName: groupName(index),
    ...(withMembers ? { members } : {}),
    meta: { lastModified: changedAt },
  });
}

function list(query, total, show) {
  const start = Math.max(1, Number(query.get('startIndex') ?? 1));
  const count = Math.min(LONGEST_PAGE, Number(query.get('count') ?? DEFAULT_PAGE));
  const texts = [];
  for (let index = start - 1; index < Math.min(total, start - 1 + count); index++) texts.push(show(index));
  return `{"totalResults":${total},"startIndex":${start},"itemsPerPage":${texts.length},"Resources":[${texts.join(',')}]}`;
}

function answer({ method, url }) {
  if (method !== 'GET') writes++;
  const { pathname, searchParams } = new URL(url, 'http://double');
  if (pathname === '/writes') return JSON.stringify({ writes });
  if (pathname === `${SCIM}/Users`) return list(searchParams, users, userText);
  if (pathname === `${SCIM}/Groups`)
    return list(searchParams, groups, (index) => groupText(index, { withMembers: false }));
  if (pathname.startsWith(`${SCIM}/Groups/`)) return groupText(groupOf(pathname), { withMembers: true });
  if (pathname === '/api/v1/users/me')
    return JSON.stringify({
      id: 0,
      username: 'key@bench.example',
      email: 'key@bench.example',
      isAdmin: true,
    });
  if (pathname.startsWith('/api/v1/user-attribute-values/')) return '[]';
  return undefined;
}

createServer((request, response) => {
  const text = answer(request);
  const send = () => {
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(text ?? '{}');
  };
  request.resume();
  setTimeout(send, waitMs);
}).listen(port, '127.0.0.1');
