// Stores the first of two approvals until a second person approves the same changes (`guard.approvers: 2`). Each is about a list of
// held or rejected changes (held-changes.ts), or about a choice: a part of the list, which is stored with the first approval, so
// that the second person approves exactly what the first one did. A first approval is valid while its list can be decided and
// still has one of its changes. `list` reads the valid ones and deletes the others; decisions.ts finds the one that a second
// person completes. `countStillIn` counts the changes that a decision or a view still has to show; `coveredBy` and
// `coversRejection` find the first approvals to show beside a resource and beside a rejection.
import type { DestructiveKind } from '../../guard/judge.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { readApprovalTerm } from './approval-term.ts';
import {
  changeText,
  idOfList,
  parseChange,
  toKindCounts,
  type ChangeList,
  type createHeldChanges,
  type Destruction,
  type HeldChanges,
} from './held-changes.ts';

/**
 * The person who approves. `identity` is that of the caller: a caller who gives another name (`by`) is still the same person
 * (`isSamePerson`).
 */
export interface Approver {
  by: string;
  identity: string;
}

/** Identity of every holder of the admin token: all of them count as one person. */
export const TOKEN_IDENTITY = 'admin token';

/** The changes that an approver chose from a list. */
export interface StoredChoice {
  /** Id of their Redis key, `guardChoice:<target>:<id>`. */
  choice: string;
  /** Hash of the changes: two approvers who choose the same changes have the same digest. */
  digest: string;
  chosen: Partial<Record<DestructiveKind, number>>;
}

export interface FirstApproval extends Approver {
  /**
   * Id of the list of held or rejected changes: `<target>.<serial>-<last place>` (`idOfList`); if only a part of it was approved,
   * followed by `~` and the digest of the chosen changes.
   */
  id: string;
  /** `serial` of the list (held-changes.ts). */
  serial: number;
  source: ChangeList['source'];
  /** Unix milliseconds of Redis. */
  at: number;
  /** Remark of the person. */
  note?: string;
  /** Which part of the list was approved, in words; absent: all. */
  selection?: string;
  /** Number of changes at time `at`. */
  total: number;
  storedChoice?: StoredChoice;
}

/**
 * A first approval with its field in the hash `guardFirst` and its stored text. guard_decide.lua compares the text, to notice a
 * change of the first approval.
 */
export type StoredFirstApproval = FirstApproval & {
  field: string;
  text: string;
  /**
   * Time at which this approval ends if no second one follows, Unix milliseconds: the expiry of its list of held changes. A list of
   * rejected changes does not expire: its first approval ends `expiryMs` after `at`.
   */
  expiresAt: number;
};

/** Largest number of first approvals of a target. */
const MOST = 100;
/** Largest number of chosen changes that one command reads. */
const PAGE = 1000;

/**
 * Returns the id under which a second person approves the same changes. The id contains a digest of the changes and not the
 * filter that selected them: the same filter may select other changes a moment later.
 * @param storedChoice undefined: all changes of the list
 */
export const firstIdOf = (target: string, list: ChangeList, storedChoice?: StoredChoice): string =>
  idOfList(target, list) + (storedChoice ? `~${storedChoice.digest}` : '');

/** Returns the list of held changes that a first approval is about: its id has the last place. */
function heldListOf({ id, serial }: FirstApproval): ChangeList {
  const [, lastPlace = '0'] = /-(\d+)(?:~[0-9a-f]+)?$/.exec(id) ?? [];
  return { source: 'guardHeld', serial, upTo: Number(lastPlace) };
}

/**
 * Returns whether two approvals come from one person: they have the same identity of the caller, or the same recorded name.
 */
export const isSamePerson = (one: Approver, other: Approver): boolean =>
  one.identity === other.identity || folded(one.by) === folded(other.by);

/** Folds a name and removes the note "(admin token)", because a person may be signed in and also use the admin token. */
const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/ \(admin token\)$/, '')
    .trim()
    .toLowerCase();

export function createFirstApprovals(
  { redis, scripts, keys }: StoreDeps,
  { target, expiryMs }: { target: string; expiryMs: number },
  held: Pick<ReturnType<typeof createHeldChanges>, 'countOf' | 'stillIn'> & {
    /** Returns the changes that are still rejected under an id; undefined: no rejection has the id. */
    rejectedListOf: (id: string) => Promise<ChangeList | undefined>;
  },
) {
  const name = keys.key('guardFirst', target);
  const fieldOf = ({ source, id }: Pick<FirstApproval, 'source' | 'id'>): string => `${source} ${id}`;

  /** Returns the first approvals that are still valid, oldest first, and deletes the others. */
  async function list(): Promise<StoredFirstApproval[]> {
    // Redis runs these commands in this order. In the other order, a first approval that is stored between them could
    // have a newer serial than the one read, and would be deleted as outdated.
    const [found, term] = await Promise.all([redis.hgetall(name), readApprovalTerm({ redis, keys }, target)]);
    const stored = Object.entries(found).map(([field, text]) => {
      const first = JSON.parse(text) as FirstApproval;
      const expiresAt = first.source === 'guardHeld' ? term.expiresAt : first.at + expiryMs;
      return { ...first, field, text, expiresAt };
    });
    // A first approval of a list that is no longer held, or has expired, cannot be completed.
    const isCurrent = ({ expiresAt, source, serial }: StoredFirstApproval): boolean =>
      expiresAt > term.now && (source === 'guardRejected' || serial === term.serial);
    const isValid = await Promise.all(
      stored.map(async (first) => isCurrent(first) && (await hasChanges(first))),
    );
    await forget(stored.filter((_, index) => !isValid[index]));
    return stored.filter((_, index) => isValid[index]).sort((one, other) => one.at - other.at);
  }

  /**
   * Returns whether a change that the first person saw is still held, or still rejected. A change that was decided or taken back by
   * the source does not count: if it is held or rejected again, it has another place in the list, or another rejection.
   */
  async function hasChanges(first: FirstApproval): Promise<boolean> {
    const changes = await listBehind(first);
    if (!changes) return false;
    if (!first.storedChoice) return (await held.countOf(changes)).total > 0;
    for await (const page of chosenOf(first.storedChoice))
      if ((await held.stillIn(changes, page)).length > 0) return true;
    return false;
  }

  /** Returns the list of changes that a first approval is about; undefined: none of its changes is rejected any more. */
  async function listBehind(first: FirstApproval): Promise<ChangeList | undefined> {
    if (first.source === 'guardHeld') return heldListOf(first);
    // The id of a first approval of a part ends with the digest of the choice, which no rejection has.
    const listId = first.storedChoice ? first.id.replace(/~[0-9a-f]+$/, '') : first.id;
    // An operator may name a rejected list by an id without a last place. `listOf` (decisions.ts) then sets the last place that is
    // held now, or the serial, and it is stored here. A rejection may have another place, so the list is looked up again without
    // it.
    return (await held.rejectedListOf(listId)) ?? held.rejectedListOf(listId.replace(/-\d+$/, ''));
  }

  /** Returns the valid first approval with this id; undefined: there is none. */
  async function find(id: string, source: ChangeList['source']): Promise<StoredFirstApproval | undefined> {
    const field = fieldOf({ id, source });
    return (await list()).find((each) => each.field === field);
  }

  /** Stores a first approval with its audit entry. @returns the tag of guard_first.lua */
  async function note(
    { serial }: ChangeList,
    first: Omit<FirstApproval, 'at'>,
    act: object | undefined,
  ): Promise<'noted' | 'exists' | 'full' | 'expired' | 'unknown'> {
    const args = { target, source: first.source, serial, field: fieldOf(first), first };
    const limits = { choice: first.storedChoice?.choice, expiryMs, most: MOST };
    const [tag] = await scripts.run('guard_first', keys.base, { ...args, ...limits, act });
    return tag as 'noted' | 'exists' | 'full' | 'expired' | 'unknown';
  }

  /** Deletes first approvals, except those that were stored anew since they were read. @returns how many it deleted */
  async function forget(firsts: StoredFirstApproval[]): Promise<number> {
    if (firsts.length === 0) return 0;
    const args = { target, firsts: firsts.map(({ field, text }) => [field, text]) };
    const [count] = await scripts.values('guard_forget_first', keys.base, args);
    return Number(count);
  }

  /** Deletes a first approval. @returns whether it existed */
  const withdraw = async (first: StoredFirstApproval): Promise<boolean> => (await forget([first])) === 1;

  /** Yields the changes of a stored choice in pages. */
  async function* chosenOf({ choice }: StoredChoice): AsyncGenerator<Destruction[]> {
    const key = keys.key('guardChoice', `${target}:${choice}`);
    for (let at = 0; ; at += PAGE) {
      const page = await redis.lrange(key, at, at + PAGE - 1);
      yield page.map(parseChange);
      if (page.length < PAGE) return;
    }
  }

  /** Returns the counts of the changes that are still in the list: of all, or of a choice. */
  async function countStillIn(
    list: ChangeList,
    storedChoice: StoredChoice | undefined,
  ): Promise<Pick<HeldChanges, 'kinds' | 'total'>> {
    if (!storedChoice) return held.countOf(list);
    const kinds = toKindCounts([]);
    let total = 0;
    for await (const page of chosenOf(storedChoice)) {
      const found = await held.stillIn(list, page);
      for (const { kind } of found) kinds[kind]++;
      total += found.length;
    }
    return { kinds, total };
  }

  /** Returns those of the given held or rejected changes that a first approval covers. */
  async function coveredBy(first: FirstApproval, items: readonly Destruction[]): Promise<Destruction[]> {
    const [list, isChosen] = await Promise.all([listBehind(first), choiceOf(first)]);
    return list ? held.stillIn(list, isChosen ? items.filter(isChosen) : items) : [];
  }

  /** Returns whether a first approval covers a change that is still rejected by a decision. @param number of the decision */
  async function coversRejection(first: FirstApproval, number: number): Promise<boolean> {
    const list = await listBehind(first);
    if (!list?.numbers?.includes(number)) return false;
    return (await countStillIn({ ...list, numbers: [number] }, first.storedChoice)).total > 0;
  }

  /** Returns a test whether a first approval of a part covers a change; undefined: it covers the whole list. */
  async function choiceOf({
    storedChoice,
  }: FirstApproval): Promise<((item: Destruction) => boolean) | undefined> {
    if (!storedChoice) return undefined;
    const found = new Set<string>();
    for await (const page of chosenOf(storedChoice)) for (const item of page) found.add(changeText(item));
    return (item) => found.has(changeText(item));
  }

  return { list, find, note, withdraw, choiceOf, countStillIn, coveredBy, coversRejection };
}
