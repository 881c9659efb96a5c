// Stores decisions of operators about held changes. An order to approve, to reject or to withdraw a rejection names a list of
// changes by an id (`listOf`): the changes that are held under the open approval, or changes that are still rejected under this
// id. Of the list the order may choose a part, which `storeChoice` puts into Redis for the scripts. Then `decide` stores the
// decision, or the first of two approvals if two persons have to approve (first-approvals.ts). One script stores the decision with
// its audit entry and a note of what is still to be moved; stored-decisions.ts moves the changes.
import { createHash, randomUUID } from 'node:crypto';
import type { DestructiveKind } from '../../guard/judge.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import {
  createFirstApprovals,
  firstIdOf,
  isSamePerson,
  type Approver,
  type FirstApproval,
  type StoredChoice,
  type StoredFirstApproval,
} from './first-approvals.ts';
import {
  createHeldChanges,
  rangesOf,
  changeText,
  toKindCounts,
  type ChangeList,
  type Destruction,
} from './held-changes.ts';
import { createStoredDecisions, type Decision, type DecisionSettings } from './stored-decisions.ts';

/**
 * `noted`: this is the first approval; a second person has to approve the same changes under `id`. `samePerson`: the first
 * approval is this person's own. `full`: too many first approvals wait. `expired`: the approval has expired, so its changes
 * are judged again. `unknown`: no list or first approval has this id.
 */
export type Decided =
  | {
      kind: 'decided';
      items: number;
      kinds: Record<DestructiveKind, number>;
      /** The first approval that this decision completed; absent: one approval was enough. */
      first?: StoredFirstApproval;
    }
  | { kind: 'noted'; id: string; items: number }
  | { kind: 'samePerson'; first: FirstApproval }
  | { kind: 'full' }
  | { kind: 'expired' }
  | { kind: 'unknown' };

export interface DecisionOptions {
  /** Remark of the operator. */
  note?: string | undefined;
  /** Which part of the list is decided, in words, for display; absent: all. */
  selection?: string | undefined;
  /** The caller, if two persons have to approve; absent: one is enough. */
  approver?: Approver | undefined;
  /** Id of the first approval that the caller joins, in place of a selection. */
  firstId?: string | undefined;
  /** Returns which changes of a page are decided; absent: all. */
  choose?: ((page: Destruction[]) => Destruction[] | Promise<Destruction[]>) | undefined;
  /**
   * Returns the audit entry.
   * @param count number of decided changes
   * @param first the approval of the other person; `noted`: this is the first of two
   */
  act?: ((count: number, first?: FirstApproval | 'noted') => object) | undefined;
  /** For tests: the largest number of scripts (guard_move.lua) that run, as if the process were killed after them; absent: all. */
  portions?: number | undefined;
}

/** Number of decisions that are kept, apart from rejections that are in force. */
const KEPT = 50;
/** Number of decided changes that are kept for display. */
const SHOWN = 200;
/** Hexadecimal digits of a digest, 128 bits: different choices have different digests. */
const DIGEST_LENGTH = 32;
/** First word of the correlation id of a decision's marks; guard_move.lua compares this word. */
const REQUEST_KINDS = { approve: 'approval', reject: 'rejection', withdraw: 'withdrawal' } as const;

/** Lifetime of the chosen changes in Redis (`storeChoice`) if their decision is never stored, milliseconds. */
const SELECTION_MS = 3_600_000;

export function createDecisions(deps: StoreDeps, common: DecisionSettings & { expiryMs: number }) {
  const { redis, scripts, keys } = deps;
  const { target } = common;
  const held = createHeldChanges(deps, target);
  const firsts = createFirstApprovals(deps, common, {
    ...held,
    // `withdraw`: under the id of the open approval, `approve` would find held changes.
    rejectedListOf: (id) => listOf('withdraw', id),
  });
  const storedDecisions = createStoredDecisions(deps, common);

  /**
   * Stores a decision, or the first of two approvals, and moves the changes.
   * @param id as listed: `<target>.<serial>-<last place>`, for a part followed by `~<digest>`; without the last place all changes
   *   that are held now
   * @param by name of the operator
   */
  async function decide(
    action: Decision['action'],
    id: string,
    by: string,
    options: DecisionOptions = {},
  ): Promise<Decided> {
    for (;;) {
      const decided = await tryToDecide(action, id, by, options);
      // `again`: another operator decided meanwhile, or an earlier decision is not carried out yet. The list is read again.
      if (decided !== 'again') return decided;
    }
  }

  async function tryToDecide(
    action: Decision['action'],
    id: string,
    by: string,
    options: DecisionOptions,
  ): Promise<Decided | 'again'> {
    // With an approver two persons have to approve. With the id of a first approval the caller is to be the second of them.
    const { approver, firstId: joinedId } = options;
    const listOfId = await listOf(action, id);
    const isWhole = joinedId === undefined && !options.choose;
    const list = listOfId && approver && isWhole ? await withinHeld(listOfId) : listOfId;
    if (!list) return { kind: 'unknown' };
    const newChoice = joinedId === undefined ? await storeChoice(list, options.choose) : undefined;
    const firstId = joinedId ?? firstIdOf(target, list, newChoice);
    const first = approver && action === 'approve' ? await firsts.find(firstId, list.source) : undefined;
    if (first && approver && isSamePerson(first, approver)) return { kind: 'samePerson', first };
    const isJoinedGone = joinedId !== undefined && !first;
    if (isJoinedGone) return { kind: 'unknown' };
    // The second person approves exactly the changes that the first one chose.
    const storedChoice = first ? first.storedChoice : newChoice;
    const { total: count } = await firsts.countStillIn(list, storedChoice);
    if (first && count === 0) return { kind: 'unknown' };
    const isFirstOfTwo = approver !== undefined && action === 'approve' && !first && count > 0;
    if (isFirstOfTwo)
      return noteFirst(list, { ...approver, id: firstId, total: count, storedChoice }, options);
    const request = `${REQUEST_KINDS[action]}:${id}`;
    return store(action, list, by, { ...options, request, first, storedChoice, count });
  }

  /**
   * Returns the list of changes that an order under this id means; undefined: there is none. `approve` and `reject` of the open
   * approval mean its held changes. `withdraw` of any id, and `approve` of another one, mean the changes of this id that are still
   * rejected. Only rejections have an id with a part (`~<digest>`).
   * @param id as for `decide`; its serial is the number of the approval
   */
  async function listOf(action: Decision['action'], id: string): Promise<ChangeList | undefined> {
    const [, name, number, last, part] = /^(.+)[.](\d+)(?:-(\d+))?(?:~([0-9a-f]+))?$/.exec(id) ?? [];
    if (name !== target) return undefined;
    const serial = Number(number);
    const current = await open();
    const upTo = last === undefined ? (current?.upTo ?? serial) : Number(last);
    const isOfOpenApproval = current?.serial === serial && part === undefined;
    if (isOfOpenApproval && action !== 'withdraw') return { source: 'guardHeld', serial, upTo };
    if (action === 'reject') return undefined;
    const numbers = await storedDecisions.rejectionsOf({
      serial,
      upTo: last === undefined ? undefined : upTo,
      part,
      // Whether the list contains all changes that are held now.
      isOpen: isOfOpenApproval && upTo >= current.upTo,
    });
    if (numbers.length === 0) return undefined;
    return { source: 'guardRejected', serial, upTo, numbers, ...(part === undefined ? {} : { part }) };
  }

  /** Returns the currently held changes; undefined when there are none. */
  async function open() {
    await storedDecisions.finishLast();
    return held.open();
  }

  /**
   * Returns the list up to the last change that is held now: the first of two approvals does not cover changes that are held
   * later. A list that has a first approval already is returned unchanged.
   */
  async function withinHeld(list: ChangeList): Promise<ChangeList> {
    if (list.source !== 'guardHeld' || (await firsts.find(firstIdOf(target, list), list.source))) return list;
    const current = await held.open();
    return { ...list, upTo: Math.min(list.upTo, current?.upTo ?? list.upTo) };
  }

  /**
   * Stores the chosen changes in Redis, where the scripts read them.
   * @returns undefined when all changes of the list are meant
   */
  async function storeChoice(
    list: ChangeList,
    choose: DecisionOptions['choose'],
  ): Promise<StoredChoice | undefined> {
    if (!choose) return undefined;
    const choice = randomUUID();
    const name = keys.key('guardChoice', `${target}:${choice}`);
    const chosen: StoredChoice['chosen'] = {};
    const digest = createHash('sha256');
    for await (const page of held.pages(list)) {
      const items = await choose(page);
      if (items.length === 0) continue;
      const texts = items.map(changeText);
      for (const text of texts) digest.update(`${text}\n`);
      await redis.rpush(name, ...texts);
      await redis.pexpire(name, SELECTION_MS);
      for (const { kind } of items) chosen[kind] = (chosen[kind] ?? 0) + 1;
    }
    return { choice, chosen, digest: digest.digest('hex').slice(0, DIGEST_LENGTH) };
  }

  /** Stores the first of two approvals. @returns `again`: another operator approved the list meanwhile */
  async function noteFirst(
    list: ChangeList,
    {
      storedChoice,
      ...rest
    }: Omit<FirstApproval, 'at' | 'serial' | 'source' | 'storedChoice'> & {
      storedChoice: StoredChoice | undefined;
    },
    { note, selection, act }: DecisionOptions,
  ): Promise<Decided | 'again'> {
    const first: Omit<FirstApproval, 'at'> = { ...rest, serial: list.serial, source: list.source };
    if (note !== undefined) first.note = note;
    if (selection !== undefined) first.selection = selection;
    if (storedChoice) first.storedChoice = storedChoice;
    const tag = await firsts.note(list, first, act?.(rest.total, 'noted'));
    if (tag === 'exists') return 'again';
    return tag === 'noted' ? { kind: 'noted', id: rest.id, items: rest.total } : { kind: tag };
  }

  /** Stores a decision and moves its changes. @returns `again`: the list or the first approval has changed meanwhile */
  async function store(
    action: Decision['action'],
    list: ChangeList,
    by: string,
    options: DecisionOptions & {
      request: string;
      first: StoredFirstApproval | undefined;
      storedChoice: StoredChoice | undefined;
      count: number;
    },
  ): Promise<Decided | 'again'> {
    const { note, first, storedChoice, count, act, portions, request } = options;
    const [tag, counts, number] = await scripts.run('guard_decide', keys.base, {
      ...common,
      ...list,
      ...storedChoice,
      action,
      note,
      shown: SHOWN,
      kept: KEPT,
      request,
      ranges: rangesOf(list),
      part: storedChoice?.digest ?? list.part,
      by: first ? `${first.by} and ${by}` : by,
      selection: first ? first.selection : options.selection,
      ...(first ? { first: [first.field, first.text] } : {}),
      ...(act && count > 0 ? { act: act(count, first) } : {}),
    });
    if (tag === 'busy' || tag === 'changed') return 'again';
    if (tag !== 'decided') return { kind: tag as 'expired' | 'unknown' };
    await storedDecisions.carryOn(portions);
    const kinds = (await storedDecisions.movedBy(Number(number))) ?? toKindCounts(counts as number[]);
    const items = Object.values(kinds).reduce((sum, each) => sum + each, 0);
    return { kind: 'decided', items, kinds, ...(first ? { first } : {}) };
  }

  return {
    ...held,
    open,
    heldRefs: async () => {
      await storedDecisions.finishLast();
      return held.heldRefs();
    },
    countHeld: async () => {
      await storedDecisions.finishLast();
      return held.countHeld();
    },
    decisions: storedDecisions.decisions,
    finishLast: storedDecisions.finishLast,
    listOf,
    decide,
    firstApprovals: firsts,
  };
}
