// Finds and removes the stored data of a deleted user in one connection: keys of the user, entries of logs, security events, and
// the names in notes of operators. Other resources keep their data; groups with a pending membership of the user are marked.
import { hash } from 'node:crypto';
import { forgottenText, isForgotten } from '../logs/split-entry.ts';
import { parseRef, type Ref } from '../records.ts';
import { fieldOf, streamPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Largest number of log entries or events that one command reads or changes. */
const PORTION = 100;
/** Fields of holds, decisions and first approvals with a text that an operator wrote. */
const NOTES = ['note', 'operatorNote', 'selection'];

/** A log of the connection: `acts`, or `log` of a target. */
export interface LogName {
  name: 'acts' | 'log';
  target?: string;
}

/**
 * Returns whether a log entry loses its personal data.
 * @param entry the part of the log entry that the hash chain covers, as JSON
 * @param personal the personal data of the log entry, as JSON
 */
export type EntryTest = (entry: string, personal: string) => boolean;

/** Numbers of removed items of a user. */
export interface RemovedItems {
  tombstones: number;
  links: number;
  heldChanges: number;
  deadLetters: number;
}

/** `pushed`: the user exists at the source again. `busy`: a sync of the user runs. In both cases nothing was removed. */
type ForgetUserOutcome = ({ kind: 'forgotten' } & RemovedItems) | { kind: 'pushed' } | { kind: 'busy' };

export function createPersonData(
  { redis, scripts, keys }: StoreDeps,
  /** `targetsOf`: returns the targets of the connection, also those that the settings no longer have. */
  { targetsOf }: { targetsOf: () => Promise<readonly string[]> },
) {
  /** Yields entries with personal data, oldest first. */
  async function* entriesOf({
    name,
    target,
  }: LogName): AsyncGenerator<{ id: string; entry: string; personal: string }> {
    for await (const found of streamPortions(redis, keys.key(name, target), PORTION)) {
      const texts = await redis.hmget(keys.key(`${name}Personal`, target), ...found.map(([id]) => id));
      for (const [index, [id, fields]] of found.entries()) {
        const text = texts[index] ?? '';
        // `e`: the chained part of the entry (lua/log.lua).
        const entry = fieldOf(fields, 'e') ?? '{}';
        // A random salt precedes the JSON text (lua/log.lua).
        if (text !== '' && !isForgotten(text)) yield { id, entry, personal: text.slice(text.indexOf('{')) };
      }
    }
  }

  /**
   * Removes the personal data of the log entries that the test selects.
   * @param order id of the order to forget, which the entries name from then on
   * @returns number of changed entries
   */
  async function forgetEntries(log: LogName, test: EntryTest, order: string): Promise<number> {
    let count = 0;
    let ids: string[] = [];
    const remove = async (): Promise<void> => {
      if (ids.length === 0) return;
      const args = { ...log, ids, text: forgottenText(order) };
      const [changed] = await scripts.values('forget_entries', keys.base, args);
      count += Number(changed);
      ids = [];
    };
    for await (const { id, entry, personal } of entriesOf(log)) {
      if (test(entry, personal)) ids.push(id);
      if (ids.length >= PORTION) await remove();
    }
    await remove();
    return count;
  }

  /** Removes security events about the users, delivered or not. @returns number of removed events */
  async function forgetEvents(ids: ReadonlySet<string>): Promise<number> {
    let count = 0;
    for (const family of ['events', 'eventsRefused']) {
      const stream = keys.key(family);
      for await (const found of streamPortions(redis, stream, PORTION)) {
        // `e`: the event as JSON.
        const aboutUsers = found.filter((entry) =>
          ids.has(String((JSON.parse(fieldOf(entry[1], 'e') ?? '{}') as { id?: string }).id)),
        );
        if (aboutUsers.length > 0) count += await redis.xdel(stream, ...aboutUsers.map(([id]) => id));
      }
    }
    return count;
  }

  /** Replaces names in the notes of operators: of holds, decisions and first approvals. @returns number of changed notes */
  async function replaceInNotes(replace: (text: string) => string): Promise<number> {
    let count = 0;
    const replaceIn = async (
      location: { family: string; target: string; field?: string },
      text: string | null,
    ): Promise<void> => {
      if (text === null) return;
      const stored = JSON.parse(text) as Record<string, unknown>;
      const changed = { ...stored };
      for (const name of NOTES) {
        const note = stored[name];
        if (typeof note === 'string') changed[name] = replace(note);
      }
      if (NOTES.every((name) => changed[name] === stored[name])) return;
      const args = { ...location, before: hash('sha1', text) };
      const [tag] = await scripts.run('replace_text', keys.base, args, JSON.stringify(changed));
      if (tag === 'replaced') count += 1;
    };
    for (const target of await targetsOf()) {
      await replaceIn({ family: 'hold', target }, await redis.get(keys.key('hold', target)));
      for (const text of await redis.lrange(keys.key('guardDecisions', target), 0, -1))
        await replaceIn({ family: 'guardDecisions', target }, text);
      for (const [field, text] of Object.entries(await redis.hgetall(keys.key('guardFirst', target))))
        await replaceIn({ family: 'guardFirst', target, field }, text);
    }
    return count;
  }

  /**
   * Removes the stored data of a deleted user at every target, and marks the groups with a pending membership of the user.
   * @param request correlation id of the marks
   */
  async function forgetUser(ref: Ref, request: string): Promise<ForgetUserOutcome> {
    const targets = await targetsOf();
    const args = { ref, id: parseRef(ref).id, targets, request };
    const [kind, tombstones, links, heldChanges, deadLetters] = await scripts.run(
      'forget_person',
      keys.base,
      args,
    );
    if (kind !== 'forgotten') return { kind: kind as 'pushed' | 'busy' };
    return {
      kind,
      tombstones: Number(tombstones),
      links: Number(links),
      heldChanges: Number(heldChanges),
      deadLetters: Number(deadLetters),
    };
  }

  return {
    targetsOf,
    entriesOf,
    forgetEntries,
    forgetEvents,
    replaceInNotes,
    forgetUser,
  };
}
