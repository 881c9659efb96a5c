// Changes of the desired state: each is one script, which also leaves the dirty marks.
import type {
  Change,
  Creation,
  GroupName,
  MemberChange,
  MemberStep,
  Method,
  PutOutcome,
  Removal,
  RemoveOutcome,
  Replacement,
  ReplaceOutcome,
} from './changes.ts';
import { attributeOf, entriesOfUser, indexEntries, type IndexedResource } from './indexes.ts';
import type { Keyspace } from '../keys.ts';
import {
  areMany,
  createLargeChange,
  MOST_AT_ONCE,
  portionsOf,
  type LargeChangeDeps,
  type Portion,
} from './large-changes.ts';
import { firstRecord, fold, LANES, textOf, type Kind, type UserState } from '../records.ts';
import { createNewcomers, STORED } from './newcomers.ts';
import type { Scripts } from '../redis/scripts.ts';

export interface DirectoryOptions {
  /** Names of the targets that must become equal to this connection. */
  targets: string[];
  /** Whether a mapped attribute or a scope depends on memberships, so that users change with their groups. */
  groupsMatter: boolean;
  /** The security events that receivers get; undefined = none (lua/telling.lua). */
  events?: { mostPending: number; externalIds: boolean } | undefined;
  /** An externalId means one person (profile `okta`); else several may have it. */
  uniqueExternalIds?: boolean | undefined;
}

const stateOf = ({ active }: IndexedResource): UserState => (active === false ? 'inactive' : 'active');

/** Answer of a script that did nothing because it would take too long. */
const MANY = 'many';

const RESOURCE_ID = /^[0-9a-z]{20}$/;

export function createWrites(
  { scripts, keys }: { scripts: Scripts; keys: Keyspace },
  options: DirectoryOptions,
  reads: Pick<LargeChangeDeps, 'versionOf' | 'membersOf'>,
) {
  const { targets, groupsMatter } = options;
  const { mostPending: most, externalIds } = options.events ?? {};
  const toldBy = (method: Method) => options.events && { method, most, externalIds };
  const events = { put: toldBy('put'), patch: toldBy('patch') };
  const common = { targets, groupsMatter, events: events.patch };
  const base = keys.base;
  /** The same for every change of a user: made once here, and read once by the script. */
  const standing = {
    put: JSON.stringify({ targets, groupsMatter, events: events.put }),
    patch: JSON.stringify(common),
  };
  const storeNew = createNewcomers({ scripts, base }, standing.put);
  const changeInPortions = createLargeChange({ ...reads, usersMeantBy });

  async function usersMeantBy(values: string[]): Promise<string[]> {
    const users: string[] = [];
    for (const [step] of portionsOf([{ kind: 'add', values }])) {
      if (!step) break;
      const args = { values: step.values, folded: foldedNames([step]) };
      const [, ...found] = await scripts.run('resolve_members', base, args);
      users.push(...(found as string[]));
    }
    return users;
  }

  /** Stores a user who is new. `stale`: this very call was sent twice, its first answer was lost. */
  async function createUser(creation: Creation): Promise<PutOutcome> {
    const { id, resource, text, now, request, shared } = creation;
    const entries = entriesOfUser(resource, shared);
    const record = firstRecord(now, stateOf(resource), JSON.stringify(entries), text);
    const reply = await storeNew({ id, record, entries, request });
    if (!reply.startsWith(STORED)) return toPutOutcome(reply);
    const groups = toGroupNames(reply.slice(STORED.length));
    return { kind: 'stored', version: 1, created: now, lastModified: now, groups };
  }

  /** Stores a user who is there. The lane follows from what happens: leaving is a deactivation. */
  async function putUser(change: Change): Promise<PutOutcome> {
    const { id, expected, resource, text, now, request, method = 'put', shared } = change;
    const entries = JSON.stringify(entriesOfUser(resource, shared));
    const version = expected === undefined ? '' : String(expected);
    const texts = [id, String(now), request, version, stateOf(resource), text, entries];
    return toPutOutcome(await scripts.ask('put_user', base, standing[method], ...texts));
  }

  /** Stores a user with other values in the place of those it has, without a look at the rest. */
  async function replaceValues({ id, values, now, request }: Replacement): Promise<ReplaceOutcome> {
    const texts = [id, String(now), request];
    for (const [name, value] of values) texts.push(name, JSON.stringify(value));
    const reply = await scripts.run('replace_values', base, standing.patch, ...texts);
    const [head, record = ''] = reply as [string, string?];
    if (head === 'absent') return { kind: 'absent' };
    return { ...toPutOutcome(head), text: textOf(record) };
  }

  /** Stores a group and changes its members: in one step, unless they are very many. */
  function putGroup(
    { resource, text, lane, method = 'put', ...change }: Change,
    steps: MemberStep[],
  ): Promise<PutOutcome> {
    const args = {
      ...common,
      ...change,
      lane: LANES.indexOf(lane ?? (change.expected === 0 ? 'new' : 'edit')),
      displayName: resource.displayName,
      entries: indexEntries('Group', resource),
      events: events[method],
    };
    return changeGroup(args, steps, text);
  }

  /** Changes members only: no read, no compare, so parallel pushes to one group lose nothing. */
  const changeMembers = ({ steps, ...change }: MemberChange): Promise<PutOutcome> =>
    changeGroup({ ...common, ...change, lane: LANES.indexOf('edit') }, steps);

  async function changeGroup(
    args: { id: string; expected?: number | undefined; lane: number },
    steps: MemberStep[],
    text?: string,
  ): Promise<PutOutcome> {
    const ask = ({ steps: some, expected, isFirst, more }: Portion): Promise<string> => {
      const portion = { ...args, expected, more, most: MOST_AT_ONCE, steps: some, folded: foldedNames(some) };
      return scripts.ask('put_group', base, portion, ...(isFirst && text !== undefined ? [text] : []));
    };
    const { id, expected } = args;
    const reply = areMany(steps) ? MANY : await ask({ steps, expected, isFirst: true, more: false });
    if (reply !== MANY) return toPutOutcome(reply);
    return changeInPortions(id, steps, expected, async (portion) => toPutOutcome(await ask(portion)));
  }

  async function remove(kind: Kind, removal: Removal): Promise<RemoveOutcome> {
    const script = kind === 'User' ? 'delete_user' : 'delete_group';
    let tag: string;
    for (let { expected } = removal; ; expected = undefined) {
      const args = { ...common, ...removal, expected, most: MOST_AT_ONCE };
      [tag] = await scripts.run(script, base, args);
      if (tag !== MANY) return { kind: tag as RemoveOutcome['kind'] };
      await empty(removal);
    }
  }

  /** Takes everybody out of a group that will be deleted. */
  async function empty({ id, now, request }: Removal): Promise<void> {
    const args = { ...common, id, now, request, lane: LANES.indexOf('edit'), more: true };
    for (const steps of portionsOf([{ kind: 'remove', values: await reads.membersOf(id) }])) {
      await scripts.ask('put_group', base, { ...args, steps, folded: foldedNames(steps) });
    }
  }

  return { createUser, putUser, replaceValues, putGroup, changeMembers, remove };
}

/** JSON `[id, displayName, id, displayName, ...]` or nothing → groups in order of ids. */
export function toGroupNames(json: string): GroupName[] {
  if (json === '') return [];
  const pairs = JSON.parse(json) as string[];
  const groups: GroupName[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    groups.push({ id: pairs[index] ?? '', displayName: pairs[index + 1] ?? '' });
  }
  return groups.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Values that are no id of ours may be names: the script finds their user by the folded form. */
function foldedNames(steps: MemberStep[]): Record<string, string> {
  const folded: [string, string][] = [];
  for (const { values } of steps) {
    for (const value of values) if (!RESOURCE_ID.test(value)) folded.push([value, fold(value)]);
  }
  return Object.fromEntries(folded);
}

/** `tag value value value rest` */
function toPutOutcome(reply: string): PutOutcome {
  const [tag = '', first = '', second = '', third = ''] = reply.split(' ', 4);
  switch (tag) {
    case 'stored':
    case 'unchanged':
      return {
        kind: tag,
        version: Number(first),
        created: Number(second),
        lastModified: Number(third),
        groups: toGroupNames(reply.slice(tag.length + first.length + second.length + third.length + 4)),
      };
    case 'taken':
      return { kind: 'taken', attribute: attributeOf(first), holder: second };
    case 'stale':
    case 'missing':
      return { kind: tag };
    default:
      throw new Error(`Unknown reply of a put script: ${tag}`);
  }
}
