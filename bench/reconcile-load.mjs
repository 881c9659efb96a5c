// Fills Redis with resources that equal those of the platform double, as pushes and syncs would leave them. Usage:
// reconcile-load.mjs <dist folder> <address of Redis> <key prefix> <users> <groups> <members per group>
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { groupId, groupName, linkOf, refOf } from './estate.mjs';
import { user, userId } from './people.mjs';

const [dist, url, prefix, ...numbers] = process.argv.slice(2);
const [users, groups, membersEach] = numbers.map(Number);
const part = (file) => import(pathToFileURL(join(dist, file)).href);
const { createDesiredState } = await part('directory/desired-state.js');
const { createKeyspace } = await part('directory/keys.js');
const { toLinkText } = await part('directory/outbox/link.js');
const { loadScripts } = await part('directory/redis/scripts.js');
const { groupResourceType, parseResource, profileOf, userResourceType } = await part('scim/index.js');

const AT_ONCE = 64;
/** Basis of a synced link: the version of a record that was stored once. */
const FIRST = '1';
const redis = new Redis(url);
// Without targets no change leaves a mark, and no lease is taken.
const options = { prefix, connection: 'default', targets: [], rulesReadGroups: false, leaseMs: 1000 };
const { directory } = createDesiredState({ redis, scripts: loadScripts(redis) }, options);
const keys = createKeyspace(prefix, 'default');
const context = { operation: 'create', profile: profileOf('auto') };
const common = { expected: 0, now: Date.now(), request: 'bench' };
const userType = userResourceType({ userAttributes: [] });
const groupType = groupResourceType();

/** Calls `work` with 0 to `total` - 1, AT_ONCE at a time. */
async function atOnce(total, work) {
  let next = 0;
  const run = async () => {
    while (next < total) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
}

await atOnce(users, async (index) => {
  const resource = parseResource(userType, user(index), context);
  // An older build to compare with may store new users by `putUser`.
  await (directory.createUser ?? directory.putUser)({
    id: userId(index),
    resource,
    text: JSON.stringify(resource),
    ...common,
  });
  await redis.hset(keys.key('links', 'main'), refOf(index), toLinkText({ ...linkOf(index), basis: FIRST }));
  await redis.hset(keys.key('linked', 'main'), `User:scim-${index}`, refOf(index));
});
await atOnce(groups, async (index) => {
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
  const resource = parseResource(groupType, { schemas, displayName: groupName(index) }, context);
  const values = Array.from({ length: membersEach }, (_, each) =>
    userId((index * membersEach + each) % users),
  );
  const change = { id: groupId(index), resource, text: JSON.stringify(resource), ...common };
  await directory.putGroup(change, [{ kind: 'add', values }]);
  const link = {
    id: `group-${index}`,
    basis: FIRST,
    origin: 'created',
    core: { displayName: groupName(index) },
  };
  await redis.hset(keys.key('links', 'main'), `Group:${groupId(index)}`, toLinkText(link));
  await redis.hset(keys.key('linked', 'main'), `Group:group-${index}`, `Group:${groupId(index)}`);
});
redis.disconnect();
