// Finds and removes the stored data of a deleted user in one connection: its own keys, entries of logs, security events, and
// mentions in the texts of others.
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import type { Keyspace } from '../keys.ts';
import { forgottenText, isForgotten } from '../logs/personal-part.ts';
import { parseRef, type Ref } from '../records.ts';
import type { Scripts } from '../redis/scripts.ts';

const PORTION = 100;

/** A log of the connection: `acts`, or `log` of a target. */
export interface LogName {
  name: 'acts' | 'log';
  target?: string;
}

/** Decides about an entry. @param entry chained part as JSON @param personal its personal data as JSON */
export type EntryTest = (entry: string, personal: string) => boolean;

/** Number of removed items of a resource. */
export interface RemovedItems {
  tombstones: number;
  links: number;
  heldChanges: number;
  deadLetters: number;
}

export type ForgetUserOutcome =
  ({ kind: 'forgotten' } & RemovedItems) | { kind: 'pushed' } | { kind: 'busy' };

export type PersonData = ReturnType<typeof createPersonData>;

export function createPersonData(
  { redis, scripts, keys }: { redis: Redis; scripts: Scripts; keys: Keyspace },
  /** `targetsOf`: also those that the settings no longer have. */
  { targetsOf }: { targetsOf: () => Promise<readonly string[]> },
) {
  /** Yields entries with personal data, oldest first. */
  async function* entriesOf({
    name,
    target,
  }: LogName): AsyncGenerator<[id: string, entry: string, personal: string]> {
    for (let after = '-'; ;) {
      const found = await redis.xrange(keys.key(name, target), after, '+', 'COUNT', PORTION);
      const last = found.at(-1);
      if (!last) return;
      const texts = await redis.hmget(keys.key(`${name}Personal`, target), ...found.map(([id]) => id));
      for (const [index, [id, [, entry = '{}']]] of found.entries()) {
        const text = texts[index] ?? '';
        if (text !== '' && !isForgotten(text)) yield [id, entry, text.slice(text.indexOf('{'))];
      }
      after = `(${last[0]}`;
    }
  }

  /** Counts the entries that the test selects. */
  async function countEntries(log: LogName, test: EntryTest): Promise<number> {
    let count = 0;
    for await (const [, entry, personal] of entriesOf(log)) if (test(entry, personal)) count += 1;
    return count;
  }

  /** Removes the personal data of the entries that the test selects. @param order id of the order @returns their number */
  async function forgetEntries(log: LogName, test: EntryTest, order: string): Promise<number> {
    let count = 0;
    let ids: string[] = [];
    const remove = async (): Promise<void> => {
      const args = { ...log, ids, text: forgottenText(order) };
      if (ids.length > 0) count += Number((await scripts.run('forget_entries', keys.base, args))[1]);
      ids = [];
    };
    for await (const [id, entry, personal] of entriesOf(log)) {
      if (test(entry, personal)) ids.push(id);
      if (ids.length >= PORTION) await remove();
    }
    await remove();
    return count;
  }

  /** Removes security events about the users, delivered or not. @returns their number */
  async function forgetEvents(ids: ReadonlySet<string>): Promise<number> {
    let count = 0;
    for (const family of ['events', 'eventsRefused']) {
      const stream = keys.key(family);
      for (let after = '-'; ;) {
        const found = await redis.xrange(stream, after, '+', 'COUNT', PORTION);
        const last = found.at(-1);
        if (!last) break;
        const theirs = found.filter(([, [, text = '{}']]) =>
          ids.has(String((JSON.parse(text) as { id?: string }).id)),
        );
        if (theirs.length > 0) count += await redis.xdel(stream, ...theirs.map(([id]) => id));
        after = `(${last[0]}`;
      }
    }
    return count;
  }

  /** Replaces mentions in texts of others: conditions of links, decisions, first approvals, holds, reports. @returns number of changed texts */
  async function replaceMentions(replace: (text: string) => string): Promise<number> {
    let count = 0;
    const put = async (
      place: { family: string; target?: string; field?: string },
      text: string,
    ): Promise<void> => {
      const changed = replace(text);
      if (changed === text) return;
      const before = createHash('sha1').update(text).digest('hex');
      const [tag] = await scripts.run('replace_text', keys.base, { ...place, before }, changed);
      if (tag === 'replaced') count += 1;
    };
    const putHash = async (family: string, target?: string): Promise<void> => {
      const place = { family, ...(target === undefined ? {} : { target }) };
      let cursor = '0';
      do {
        const [next, found] = await redis.hscan(keys.key(family, target), cursor, 'COUNT', PORTION);
        cursor = next;
        for (let at = 0; at + 1 < found.length; at += 2)
          await put({ ...place, field: found[at] ?? '' }, found[at + 1] ?? '');
      } while (cursor !== '0');
    };
    await put({ family: 'proofLast' }, (await redis.get(keys.key('proofLast'))) ?? '');
    await putHash('eventCounts');
    for (const target of await targetsOf()) {
      await put({ family: 'hold', target }, (await redis.get(keys.key('hold', target))) ?? '');
      for (const text of await redis.lrange(keys.key('guardDecisions', target), 0, -1))
        await put({ family: 'guardDecisions', target }, text);
      await putHash('guardFirst', target);
      await putHash('reconcile', target);
      await putHash('links', target);
    }
    return count;
  }

  /** Removes the keys of a deleted user. `busy`: a sync of the user runs. */
  async function forgetUser(ref: Ref): Promise<ForgetUserOutcome> {
    const targets = await targetsOf();
    const args = { ref, id: parseRef(ref).id, targets, kinds: DESTRUCTIVE_KINDS };
    const [kind, tombstones, links, heldChanges, deadLetters] = await scripts.run(
      'forget_person',
      keys.base,
      args,
    );
    if (kind !== 'forgotten') return { kind: kind as 'pushed' | 'busy' };
    return {
      ...{ kind, tombstones: Number(tombstones), links: Number(links) },
      ...{ heldChanges: Number(heldChanges), deadLetters: Number(deadLetters) },
    };
  }

  return { targetsOf, entriesOf, countEntries, forgetEntries, forgetEvents, replaceMentions, forgetUser };
}
