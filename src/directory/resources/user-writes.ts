// Stores users: each change is one Lua script, which also leaves the dirty marks. New users are stored in batches (user-batch.ts).
import { entriesOfUser, firstRecord, type IndexedResource, textOf, type UserState } from '../records.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import {
  toGroupNames,
  toPutOutcome,
  type Change,
  type Creation,
  type DirectoryOptions,
  type Method,
  type PutOutcome,
  type Replacement,
  type ReplaceOutcome,
} from './changes.ts';
import { createUserBatch, STORED } from './user-batch.ts';

export function createUserWrites(
  { scripts, keys }: StoreDeps,
  { targets, rulesReadGroups, events }: DirectoryOptions,
) {
  const { base } = keys;
  /** Arguments that are the same for every change of a user, serialized once. */
  const argumentsOf = (method: Method): string => {
    const emitted = events && { method, most: events.mostPending, externalIds: events.externalIds };
    return JSON.stringify({ targets, rulesReadGroups, events: emitted });
  };
  const common = { put: argumentsOf('put'), patch: argumentsOf('patch') };
  const storeNew = createUserBatch({ scripts, base }, common.put);

  /** Stores a new user. `stale`: an earlier attempt of this call, whose reply was lost, has stored the user. */
  async function createUser(creation: Creation): Promise<PutOutcome> {
    const { id, resource, text, now, request, shared } = creation;
    const entries = entriesOfUser(resource, shared);
    const record = firstRecord(now, stateOf(resource), JSON.stringify(entries), text);
    const reply = await storeNew({ id, record, entries, request });
    if (!reply.startsWith(STORED)) return toPutOutcome(reply);
    const groups = toGroupNames(reply.slice(STORED.length));
    return { kind: 'stored', version: 1, created: now, lastModified: now, groups };
  }

  /** Replaces a stored user. The script chooses the priority: a user who becomes inactive is a deactivation. */
  async function putUser(change: Change): Promise<PutOutcome> {
    const { id, expected, resource, text, now, request, method = 'put', shared } = change;
    const entries = JSON.stringify(entriesOfUser(resource, shared));
    const version = expected === undefined ? '' : String(expected);
    const texts = [id, String(now), request, version, stateOf(resource), text, entries];
    return toPutOutcome(await scripts.ask('put_user', base, common[method], ...texts));
  }

  /** Replaces the values of single attributes inside the stored text of a user. */
  async function replaceValues({ id, values, now, request }: Replacement): Promise<ReplaceOutcome> {
    const texts = [id, String(now), request];
    for (const [name, value] of values) texts.push(name, JSON.stringify(value));
    const reply = await scripts.run('replace_values', base, common.patch, ...texts);
    const [head, record = ''] = reply as [string, string?];
    if (head === 'absent') return { kind: 'absent' };
    return { ...toPutOutcome(head), text: textOf(record) };
  }

  return { createUser, putUser, replaceValues };
}

const stateOf = ({ active }: IndexedResource): UserState => (active === false ? 'inactive' : 'active');
