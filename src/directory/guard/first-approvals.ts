// Keeps the first of two approvals until a second person approves the same (`guard.approvers: 2`). The chosen changes are stored
// with it, so that the second person approves exactly what the first one did.
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { DestructiveKind } from '../../guard/judge.ts';
import type { Keyspace } from '../keys.ts';
import type { Scripts } from '../redis/scripts.ts';
import { idOfList, changeText, type ChangeList, type Destruction } from './held-changes.ts';

/** The person who approves. `identity`: what tells two callers apart, whatever names they give. */
export interface Approver {
  by: string;
  identity: string;
}

/** The chosen changes of a list; stored under `guardChoice`. */
export interface StagedChoice {
  choice: string;
  chosen: Partial<Record<DestructiveKind, number>>;
}

export interface FirstApproval extends Approver {
  /** Id of the list; with `~` and a digest of the selection behind it where a part of the list was approved. */
  id: string;
  source: ChangeList['source'];
  at: number;
  note?: string;
  /** Which part of the list was approved, in words; absent: all. */
  selection?: string;
  /** Number of changes at that time. */
  total: number;
  staged?: StagedChoice;
}

/** `text`: the stored record, by which the script recognises it. */
export type StoredFirstApproval = FirstApproval & { field: string; text: string };

/** First approvals that a target keeps. */
const MOST = 100;

export const firstIdOf = (target: string, list: ChangeList, selection: string | undefined): string =>
  idOfList(target, list) +
  (selection === undefined ? '' : `~${createHash('sha256').update(selection).digest('hex').slice(0, 8)}`);

/** Whether two approvals come from one person: by the identity of the caller, and by the name for the record. */
export const isSamePerson = (one: Approver, other: Approver): boolean =>
  one.identity === other.identity || folded(one.by) === folded(other.by);

const folded = (name: string): string => name.normalize('NFKC').trim().toLowerCase();

export function createFirstApprovals(
  { redis, scripts, keys }: { redis: Redis; scripts: Scripts; keys: Keyspace },
  { target, expiryMs }: { target: string; expiryMs: number },
) {
  const name = keys.key('guardFirst', target);
  const fieldOf = ({ source, id }: Pick<FirstApproval, 'source' | 'id'>): string => `${source} ${id}`;

  /** Returns all that still count, the oldest first. */
  async function list(): Promise<StoredFirstApproval[]> {
    const [found, [seconds = 0]] = await Promise.all([redis.hgetall(name), redis.time()]);
    const oldest = Number(seconds) * 1000 - expiryMs;
    const stored = Object.entries(found).map(([field, text]) => ({
      ...(JSON.parse(text) as FirstApproval),
      ...{ field, text },
    }));
    const expired = stored.filter(({ at }) => at <= oldest).map(({ field }) => field);
    if (expired.length > 0) await redis.hdel(name, ...expired);
    return stored.filter(({ at }) => at > oldest).sort((one, other) => one.at - other.at);
  }

  /** Finds a first approval by its id. */
  async function find(id: string, source: ChangeList['source']): Promise<StoredFirstApproval | undefined> {
    const field = fieldOf({ id, source });
    return (await list()).find((each) => each.field === field);
  }

  async function note(
    { serial }: ChangeList,
    first: Omit<FirstApproval, 'at'>,
    act: object | undefined,
  ): Promise<'noted' | 'exists' | 'full' | 'expired' | 'unknown'> {
    const args = { target, source: first.source, serial, field: fieldOf(first), first };
    const limits = { choice: first.staged?.choice, expiryMs, most: MOST };
    const [tag] = await scripts.run('guard_first', keys.base, { ...args, ...limits, act });
    return tag as 'noted' | 'exists' | 'full' | 'expired' | 'unknown';
  }

  /** @returns whether it was there */
  const withdraw = async ({ field }: StoredFirstApproval): Promise<boolean> =>
    (await redis.hdel(name, field)) === 1;

  /** Returns whether a change is covered by a first approval of a part; undefined: all of the list are. */
  async function choiceOf({ staged }: FirstApproval): Promise<((item: Destruction) => boolean) | undefined> {
    if (!staged) return undefined;
    const key = keys.key('guardChoice', `${target}:${staged.choice}`);
    const found = new Set<string>();
    for (let at = 0; ; at += PAGE) {
      const page = await redis.lrange(key, at, at + PAGE - 1);
      for (const text of page) found.add(text);
      if (page.length < PAGE) return (item) => found.has(changeText(item));
    }
  }

  return { list, find, note, withdraw, choiceOf };
}

const PAGE = 1000;
