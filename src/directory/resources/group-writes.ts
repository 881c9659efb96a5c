// Stores groups and their members, and deletes users and groups: each change is one Lua script, which also leaves the dirty
// marks. A script that would change very many memberships replies MANY and changes nothing. The change is then made in portions
// (large-changes.ts); a group that is to be deleted is emptied first.
import { fold, indexEntries, PRIORITIES, type Kind } from '../records.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import {
  toPutOutcome,
  type Change,
  type DirectoryOptions,
  type MemberChange,
  type MemberStep,
  type Method,
  type PutOutcome,
  type Removal,
  type RemoveOutcome,
} from './changes.ts';
import {
  areMany,
  createLargeChange,
  MOST_AT_ONCE,
  portionsOf,
  type LargeChangeDeps,
  type MemberPortion,
} from './large-changes.ts';

/** Reply of a script that changed nothing because the change has too many memberships for one script. */
const MANY = 'many';
/**
 * Start of the reply after a rename of a very large group, if mapping rules read the names of groups: its members are to be marked
 * in portions.
 */
const RENAMED = 'renamed ';

/** Matches the ids that the bridge gives to users and groups. */
const RESOURCE_ID = /^[0-9a-z]{20}$/;

export function createGroupWrites(
  { scripts, keys }: StoreDeps,
  { targets, rulesReadGroups, events }: DirectoryOptions,
  reads: Pick<LargeChangeDeps, 'versionOf' | 'membersOf'>,
) {
  const { base } = keys;
  /** Returns the arguments that all changes share. */
  const argumentsOf = (method: Method) => {
    const emitted = events && { method, most: events.mostPending, externalIds: events.externalIds };
    return { targets, rulesReadGroups, events: emitted };
  };
  const changeInPortions = createLargeChange({ ...reads, usersMeantBy });

  /** Returns the ids of the users whom member values identify. The values are looked up in portions. */
  async function usersMeantBy(values: string[]): Promise<string[]> {
    const users: string[] = [];
    for (const [step] of portionsOf([{ kind: 'add', values }])) {
      if (!step) break;
      const args = { values: step.values, folded: foldedNames([step]) };
      const found = await scripts.values('resolve_members', base, args);
      users.push(...(found as string[]));
    }
    return users;
  }

  /** Stores a group and changes its members. */
  function putGroup(
    { resource, text, priority, method = 'put', ...change }: Change,
    steps: MemberStep[],
  ): Promise<PutOutcome> {
    const args = {
      ...argumentsOf(method),
      ...change,
      priority: PRIORITIES.indexOf(priority ?? (change.expected === 0 ? 'new' : 'edit')),
      displayName: resource.displayName,
      entries: indexEntries('Group', resource),
    };
    return changeGroup(args, steps, text);
  }

  /** Changes only the members of a group. The script reads the stored members, so parallel changes keep each other's work. */
  const changeMembers = ({ steps, ...change }: MemberChange): Promise<PutOutcome> =>
    changeGroup({ ...argumentsOf('patch'), ...change, priority: PRIORITIES.indexOf('edit') }, steps);

  /** Changes a group with one script, or with several for very many memberships. @param text absent: the stored text is kept */
  async function changeGroup(
    args: { id: string; expected?: number | undefined; request?: string | undefined; priority: number },
    steps: MemberStep[],
    text?: string,
  ): Promise<PutOutcome> {
    const ask = async (portion: MemberPortion): Promise<string> => {
      const { expected, more } = portion;
      const folded = foldedNames(portion.steps);
      const portionArgs = { ...args, expected, more, most: MOST_AT_ONCE, steps: portion.steps, folded };
      const texts = portion.isFirst && text !== undefined ? [text] : [];
      const reply = await scripts.ask('put_group', base, portionArgs, ...texts);
      if (!reply.startsWith(RENAMED)) return reply;
      await markRenamed(args.request);
      return reply.slice(RENAMED.length);
    };
    const { id, expected } = args;
    const reply = areMany(steps) ? MANY : await ask({ steps, expected, isFirst: true, more: false });
    if (reply !== MANY) return toPutOutcome(reply);
    return changeInPortions(id, steps, expected, async (portion) => toPutOutcome(await ask(portion)));
  }

  /** Marks the members of very large groups with a new name. If this process dies meanwhile, the workers go on (renamed.lua). */
  async function markRenamed(request?: string): Promise<void> {
    let tag: string;
    do [tag] = await scripts.run('mark_renamed', base, { targets, request });
    while (tag === 'left');
  }

  /** Deletes a user or a group. A group with very many members is emptied first. */
  async function remove(kind: Kind, removal: Removal): Promise<RemoveOutcome> {
    const script = kind === 'User' ? 'delete_user' : 'delete_group';
    let tag: string;
    // `empty` changes the version, so only the first script compares `expected`.
    for (let { expected } = removal; ; expected = undefined) {
      // The events of a deletion do not depend on the method.
      const args = { ...argumentsOf('patch'), ...removal, expected, most: MOST_AT_ONCE };
      [tag] = await scripts.run(script, base, args);
      if (tag !== MANY) return { kind: tag as RemoveOutcome['kind'] };
      await empty(removal);
    }
  }

  /** Removes all members of a group. `more`: its mark is postponed, because the deletion follows. */
  async function empty({ id, now, request }: Removal): Promise<void> {
    const args = {
      ...argumentsOf('patch'),
      id,
      now,
      request,
      priority: PRIORITIES.indexOf('edit'),
      more: true,
    };
    for (const steps of portionsOf([{ kind: 'remove', values: await reads.membersOf(id) }])) {
      await scripts.ask('put_group', base, { ...args, steps, folded: foldedNames(steps) });
    }
  }

  return { putGroup, changeMembers, remove, markRenamed };
}

/**
 * Returns by value the folded form of each member value that is no resource id: it may be a userName, by which lua/resolve.lua
 * finds the user.
 */
function foldedNames(steps: MemberStep[]): Record<string, string> {
  const folded: [string, string][] = [];
  for (const { values } of steps) {
    for (const value of values) if (!RESOURCE_ID.test(value)) folded.push([value, fold(value)]);
  }
  return Object.fromEntries(folded);
}
