// Stores the handover of each closed account: the folder, and each moved item with its former folder (ADR 0025).
import type { LogEntry, ProvisioningLog } from '../logs/provisioning-log.ts';
import type { Ref } from '../records.ts';
import { pairsOf, inPortions, scanned } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/**
 * `moving`: noted before the first move, so that a crash loses nothing. `moved`: all items that may be moved are moved.
 * `returning`, `returned`: the same for the move back.
 */
type HandoverState = 'moving' | 'moved' | 'returning' | 'returned';

/** Facts that all items of a handover share. Times are Unix milliseconds. */
export interface HandoverHead {
  state: HandoverState;
  /** userName of the person. */
  name: string;
  /** The platform's SCIM id. */
  platformId: string;
  /** The platform's numeric user id as text. */
  account: string;
  /** Time of the closing that the handover belongs to (Link.closedAt). */
  closedAt: number;
  startedAt: number;
  endedAt?: number;
  /** Id of the platform's deployment that has the items. */
  deployment: string;
  /** Name of the folder that the handover makes for the person in the folder of the team; chosen before it is created. */
  folderName?: string;
  /** Id of the folder `folderName`. */
  folder?: string;
  /** Number of items whose move the platform refused; each run tries them again. */
  refused?: number;
  /** Operator who ordered the move back; absent: the items are moved back because the person is active again. */
  by?: string;
}

/**
 * `planned`: noted, and not moved yet. `refused`: the platform refused the move. `left`: the item is in neither folder now.
 */
export interface HandedItem {
  type: 'FOLDER' | 'WORKBOOK' | 'REPORT';
  id: string;
  name: string;
  /** Id of the former folder; null = the root. */
  from: string | null;
  state: 'planned' | 'moved' | 'refused' | 'returned' | 'left';
  /** Message of the platform, or the reason why the item was left. */
  reason?: string;
}

/** Handover of the work of a closed account: the folder of the team, and the items that are moved there. */
export interface Handover {
  head: HandoverHead;
  items: HandedItem[];
}

export type HandoverStore = ReturnType<typeof createHandoverStore>;

/** Name of the hash field of the head; each other field is an item. */
const HEAD = 'head';
/** Largest number of heads, refs or items in one portion of a read or a write. */
const PORTION = 500;

/** Returns the name of the hash field of an item. */
export const itemKey = ({ type, id }: Pick<HandedItem, 'type' | 'id'>): string => `${type}:${id}`;

export function createHandoverStore(
  deps: StoreDeps & { log: Pick<ProvisioningLog, 'toArgs'> },
  { target }: { target: string },
) {
  const { redis, scripts, keys, log } = deps;
  const recordKey = (ref: Ref): string => keys.key('handover', `${target}:${ref}`);

  /** Returns the heads by ref; a ref without a handover is left out. */
  async function heads(refs: readonly Ref[]): Promise<Map<Ref, HandoverHead>> {
    const found = new Map<Ref, HandoverHead>();
    for (const portion of inPortions(refs, PORTION)) {
      const texts = await Promise.all(portion.map((ref) => redis.hget(recordKey(ref), HEAD)));
      for (const [index, ref] of portion.entries()) {
        const text = texts[index];
        if (text) found.set(ref, JSON.parse(text) as HandoverHead);
      }
    }
    return found;
  }

  /** Reads one handover with its items (hand-over.ts limits their number); undefined: there is none. */
  async function read(ref: Ref): Promise<Handover | undefined> {
    let head: HandoverHead | undefined;
    const items = new Map<string, HandedItem>();
    for await (const found of scanned((cursor) => redis.hscan(recordKey(ref), cursor, 'COUNT', PORTION)))
      for (const [name, text] of pairsOf(found)) {
        if (name === HEAD) head = JSON.parse(text) as HandoverHead;
        else items.set(name, JSON.parse(text) as HandedItem);
      }
    return head && { head, items: [...items.values()] };
  }

  /** Yields the refs of all handovers in portions, the oldest first. */
  async function* refs(): AsyncGenerator<Ref[]> {
    for (let at = 0; ; at += PORTION) {
      const found = await redis.zrange(keys.key('handovers', target), String(at), String(at + PORTION - 1));
      if (found.length > 0) yield found as Ref[];
      if (found.length < PORTION) return;
    }
  }

  /**
   * Stores a head and items. One script stores each portion with its log entries, so no item is stored without its entry.
   * @param change.entries one for each item in the same order, or none at all
   * @param change.anew whether a stored handover of an earlier closing is deleted first
   */
  async function note(
    ref: Ref,
    change: { head?: HandoverHead; items?: readonly HandedItem[]; entries?: LogEntry[]; anew?: boolean },
  ): Promise<void> {
    const { head, items = [], entries = [], anew = false } = change;
    // The first portion stores the head, also when there are no items.
    for (let at = 0; at === 0 || at < items.length; at += PORTION) {
      const portion = items.slice(at, at + PORTION);
      const fields = [
        ...(head && at === 0 ? [[HEAD, JSON.stringify(head)]] : []),
        ...portion.map((item) => [itemKey(item), JSON.stringify(item)]),
      ];
      const logged = log.toArgs(entries.slice(at, at + PORTION));
      const args = { target, ref, anew: anew && at === 0, fields, ...(logged ? { log: logged } : {}) };
      await scripts.run('note_handover', keys.base, args);
    }
  }

  return { target, heads, read, refs, note };
}
