// Fills the directory with the bridge's own code, without HTTP and without marks. Usage:
// preload.mjs <main.js of the bridge> <address of Redis> <key prefix> <users> <members of the group>
import { dirname, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { GROUP_ID, user, userId } from './people.mjs';

const [main, url, prefix, users, members] = process.argv.slice(2);
const part = (file) => import(pathToFileURL(join(dirname(main), file)).href);
const { createDesiredState } = await part('directory/desired-state.js');
const { loadScripts } = await part('directory/redis/scripts.js');
const { groupResourceType, parseResource, profileOf, userResourceType } = await part('scim/index.js');

const AT_ONCE = 64;
const MEMBERS_AT_ONCE = 1000;
const redis = new Redis(url);
// Without targets no change leaves a mark, and no lease is taken.
const options = { prefix, connection: 'default', targets: [], rulesReadGroups: false, leaseMs: 1000 };
const { directory } = createDesiredState({ redis, scripts: loadScripts(redis) }, options);
const context = { operation: 'create', profile: profileOf('auto') };
const userType = userResourceType({ userAttributes: [] });

/** Stores one resource. @throws Error unless the directory stored it */
async function put(kind, type, id, body, steps) {
  const resource = parseResource(type, body, context);
  const change = {
    id,
    expected: 0,
    resource,
    text: JSON.stringify(resource),
    now: Date.now(),
    request: 'bench',
  };
  const outcome = await (kind === 'User'
    ? // An older build to compare with may store new users by `putUser`.
      (directory.createUser ?? directory.putUser)(change)
    : directory.putGroup(change, steps ?? []));
  if (outcome.kind !== 'stored') throw new Error(`preloading ${kind} ${id}: ${JSON.stringify(outcome)}`);
}

let next = 0;
const worker = async () => {
  while (next < Number(users)) {
    const index = next++;
    await put('User', userType, userId(index), user(index));
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));

const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
await put('Group', groupResourceType(), GROUP_ID, { schemas, displayName: 'Everybody' }, []);
for (let first = 0; first < Number(members); first += MEMBERS_AT_ONCE) {
  const count = Math.min(MEMBERS_AT_ONCE, Number(members) - first);
  const values = Array.from({ length: count }, (_, index) => userId(first + index));
  const steps = [{ kind: 'add', values }];
  await directory.changeMembers({ id: GROUP_ID, now: Date.now(), request: 'bench', priority: 'edit', steps });
}
redis.disconnect();
