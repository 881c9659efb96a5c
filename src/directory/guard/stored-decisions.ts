// Reads the stored decisions of a target, and moves the changes of the last one: an approval moves them from the held or rejected
// changes to the approved ones, a rejection to the rejected ones, and the withdrawal of a rejection takes them out. They are moved
// in portions, so that no script stops Redis for long. A process that was killed leaves a note (`guardDeciding`) of what is still
// to be moved; the next read or decision finishes it.
import type { DESTRUCTIVE_KINDS, DestructiveKind } from '../../guard/judge.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { idOfList, parseChange, type Destruction } from './held-changes.ts';

/** A decision of an operator; the newest fifty are kept, and older rejections whose changes are still rejected. */
export interface Decision {
  /** Id of the list; of a decision about a part of it, followed by `~` and the digest of the decided changes. */
  id: string;
  /** Number of the approval. */
  serial: number;
  /** Place (score in `guardHeld`) of the last held change that the approval had; later held changes do not belong to it. */
  upTo: number;
  /** Number of the decision: the score of the changes that it rejected in `guardRejected`. */
  number: number;
  /** `withdraw` ends a rejection: the guard judges its changes anew. */
  action: 'approve' | 'reject' | 'withdraw';
  /** Unix milliseconds of Redis. */
  at: number;
  /** Of an approval: time at which its right to write the changes ends, Unix milliseconds of Redis. */
  approvedUntil?: number;
  by: string;
  /** Remark of the operator. */
  note?: string;
  /** Which part of the list was decided, in words; absent: all. */
  selection?: string;
  kinds: Record<DestructiveKind, number>;
  /** The first decided changes, at most `SHOWN` of decisions.ts. */
  items: Destruction[];
}

type StoredDecision = Omit<Decision, 'items'> & { part?: string; items: string[] };

/** The arguments that every script of a decision takes. */
export interface DecisionSettings {
  target: string;
  /** The target alone, in the form that the functions for marks read (`p.targets`). */
  targets: string[];
  kinds: typeof DESTRUCTIVE_KINDS;
}

/** Number of the newest decisions in which `movedBy` searches. */
const RECENT = 10;
/** Changes of one script; 120 take about 5 ms. */
const PORTION = 120;

const numberOf = ({ number }: StoredDecision): number => number;

/** Creates the functions that read the decisions of one target, and first finish moving the changes of the last one. */
export function createStoredDecisions({ redis, scripts, keys }: StoreDeps, settings: DecisionSettings) {
  const { target } = settings;

  /** Moves the changes that the last decision has not moved yet. @param portions largest number of scripts */
  async function carryOn(portions = Infinity): Promise<void> {
    for (let round = 0; round < portions; round++) {
      const [more] = await scripts.values('guard_move', keys.base, {
        ...settings,
        count: PORTION,
      });
      if (more === 0) return;
    }
  }

  /** Moves the changes of the last decision that a killed process did not move. */
  async function finishLast(): Promise<void> {
    if ((await redis.exists(keys.key('guardDeciding', target))) === 1) await carryOn();
  }

  async function storedDecisions(): Promise<StoredDecision[]> {
    await finishLast();
    const found = await redis.lrange(keys.key('guardDecisions', target), 0, -1);
    return found.map((text) => {
      const stored = JSON.parse(text) as Omit<StoredDecision, 'id'>;
      return { ...stored, id: idOfList(target, stored) };
    });
  }

  /** Returns the stored decisions, newest first. */
  async function decisions(): Promise<Decision[]> {
    return (await storedDecisions()).map(({ items, ...rest }) => ({
      ...rest,
      items: items.map(parseChange),
    }));
  }

  /**
   * Returns the numbers of the rejections that an id names: the rejection with exactly this id; otherwise all rejections of
   * parts of this list. Without a last place, returns all rejections under the serial.
   * @param list.isOpen the list contains all changes that are held now. Parts of it may have been rejected while the list had
   *   another last place, so rejections of parts count with every last place
   */
  async function rejectionsOf(list: {
    serial: number;
    upTo: number | undefined;
    part: string | undefined;
    isOpen: boolean;
  }): Promise<number[]> {
    const { serial, upTo, part } = list;
    const ofSerial = (await storedDecisions()).filter(
      (decision) => decision.action === 'reject' && decision.serial === serial,
    );
    // An id without a last place names no part of a list.
    if (upTo === undefined) return part === undefined ? ofSerial.map(numberOf) : [];
    const ofList = ofSerial.filter((decision) => decision.upTo === upTo);
    const withExactId = ofList.filter((decision) => decision.part === part);
    if (withExactId.length > 0 || part !== undefined) return withExactId.map(numberOf);
    // The id is that of a whole list, which no decision rejected as a whole.
    const ofParts = list.isOpen ? ofSerial.filter((decision) => decision.part !== undefined) : ofList;
    return ofParts.map(numberOf);
  }

  /**
   * Returns how many changes of each kind a decision moved, without those that the source took back before. Undefined: the
   * decision is not recent.
   */
  async function movedBy(number: number): Promise<Decision['kinds'] | undefined> {
    const newest = await redis.lrange(keys.key('guardDecisions', target), 0, RECENT - 1);
    return newest
      .map((text) => JSON.parse(text) as StoredDecision)
      .find((decision) => decision.number === number)?.kinds;
  }

  return { carryOn, finishLast, decisions, rejectionsOf, movedBy };
}
