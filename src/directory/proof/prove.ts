// Proves that everything derived agrees with the records, and repairs it where it does not (docs/proof.md). Each portion is one
// script that looks and repairs in one step, so pushes and syncs go on meanwhile.
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';
import { REPAIRED } from '../runs.ts';
import type { Scripts } from '../scripts.ts';
import { primariesOf } from '../store-health.ts';
import { walkOfKey, walksOfRecords, walksOfTarget, type Walk } from './walks.ts';

/**
 * `damaged`: it can not be read. `doubled`: two claim the same. `lost`: it refers to a record that is not there and that
 * nobody deleted. These three need a person; the others follow from the records.
 */
export type Fault = 'missing' | 'wrong' | 'surplus' | 'damaged' | 'doubled' | 'lost';

/** Everything of one sort that was found in one family of keys. */
export interface Finding {
  family: string;
  fault: Fault;
  count: number;
  repaired: number;
  /** The first few: refs, never names or addresses. */
  examples: string[];
}

export interface ProofOptions {
  repair: boolean;
  /** Correlation id of what a repair marks. */
  request: string;
  /** Rest after each portion. */
  pauseMs?: number;
  signal?: AbortSignal;
  onProgress?: (looked: number) => void;
}

/** What the last pass of the scheduler found. */
export interface LastProof {
  /** Unix milliseconds. */
  endedAt: number;
  faults: number;
}

export type Proof = ReturnType<typeof createProof>;

const EXAMPLES = 5;
/** Entries per script: some are followed by several commands, and all others wait meanwhile. */
const PORTION = 200;
const KEYS_AT_ONCE = 500;

export function createProof(
  { redis, scripts, keys }: { redis: Redis; scripts: Scripts; keys: Keyspace },
  { targets }: { targets: string[] },
) {
  async function* ownKeys(): AsyncGenerator<string> {
    for (const node of primariesOf(redis)) {
      let cursor = '0';
      do {
        const [next, found] = await node.scan(cursor, 'MATCH', `${keys.base}*`, 'COUNT', KEYS_AT_ONCE);
        cursor = next;
        for (const each of found) yield each.slice(keys.base.length);
      } while (cursor !== '0');
    }
  }

  /** Groups that have no member set: nobody is in them, or it was lost as a whole. */
  async function setlessGroups(): Promise<Record<string, true>> {
    const setless: Record<string, true> = {};
    const groups = await redis.hkeys(keys.key('groups'));
    for (let start = 0; start < groups.length; start += KEYS_AT_ONCE) {
      const some = groups.slice(start, start + KEYS_AT_ONCE);
      const there = await Promise.all(some.map((id) => redis.exists(keys.key('members', id))));
      for (const [index, id] of some.entries()) if (there[index] === 0) setless[id] = true;
    }
    return setless;
  }

  /** Looks at everything once. A repaired fault may uncover none: what is left needs a person. */
  async function run(options: ProofOptions): Promise<Finding[]> {
    const { repair, request, pauseMs = 0, signal, onProgress } = options;
    const findings = new Map<string, Finding>();
    let looked = 0;
    /** Entries since the last rest: many keys hold only a few. */
    let unrested = 0;

    async function walk({ script, args }: Walk): Promise<void> {
      let cursor = '0';
      do {
        signal?.throwIfAborted();
        const all = { targets, ...args, cursor, count: PORTION, repair, request };
        const one = 'target' in args ? { ...all, targets: [args.target] } : all;
        const [, next, seen, faults] = await scripts.run(`prove_${script}`, keys.base, one);
        cursor = String(next);
        looked += Number(seen);
        note(findings, faults as string[]);
        onProgress?.(looked);
        unrested += Number(seen);
        if (pauseMs === 0 || unrested < PORTION) continue;
        unrested = 0;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      } while (cursor !== '0');
    }

    for (const each of walksOfRecords()) await walk(each);
    await walk({ script: 'groups_of', args: { setless: await setlessGroups() } });
    // A key may be told twice by SCAN, which does no harm: in the end it is as it shall be.
    const told = async (families: RegExp): Promise<void> => {
      for await (const name of ownKeys()) {
        const found = families.test(name) ? walkOfKey(name, targets) : undefined;
        if (found) await walk(found);
      }
    };
    await told(/^(members|unresolved|references):/);
    await walk({ script: 'count', args: {} });
    for (const target of targets) for (const each of walksOfTarget(target).slice(0, 2)) await walk(each);
    await told(/^(memberMarks|owed|guard\w+):/);
    for (const target of targets) for (const each of walksOfTarget(target).slice(2)) await walk(each);
    // The next run maps everybody and reads all members and values anew.
    if (repair) for (const target of targets) await redis.set(keys.key('mapped', target), REPAIRED);
    return [...findings.values()];
  }

  /** Whether nobody else proves this connection now, or did so a short while ago. */
  const takeTurn = async (longestMs: number): Promise<boolean> =>
    (await redis.set(keys.key('proofTurn'), '1', 'PX', longestMs, 'NX')) !== null;

  /** @param restMs how long nobody else has to prove it; 0 where the pass came to no end */
  const endTurn = async (restMs: number): Promise<void> => {
    await redis.pexpire(keys.key('proofTurn'), restMs);
  };

  const keep = async (found: LastProof): Promise<void> => {
    await redis.set(keys.key('proofLast'), JSON.stringify(found));
  };

  const last = async (): Promise<LastProof | undefined> => {
    const text = await redis.get(keys.key('proofLast'));
    try {
      return text === null ? undefined : (JSON.parse(text) as LastProof);
    } catch {
      // Damaged too: the next pass writes it anew.
      return undefined;
    }
  };

  /** What was found is repaired, or is to be looked at again. */
  const forget = async (): Promise<void> => {
    await redis.del(keys.key('proofLast'));
  };

  return { run, takeTurn, endTurn, keep, last, forget };
}

/** @param faults family, fault, name and whether it is repaired, of each */
function note(findings: Map<string, Finding>, faults: string[]): void {
  for (let at = 0; at + 3 < faults.length; at += 4) {
    const [family = '', fault = '', name = '', repaired] = faults.slice(at, at + 4);
    const known = findings.get(`${family} ${fault}`);
    const finding = known ?? { family, fault: fault as Fault, count: 0, repaired: 0, examples: [] };
    finding.count++;
    if (repaired === '1') finding.repaired++;
    if (finding.examples.length < EXAMPLES && !finding.examples.includes(name)) finding.examples.push(name);
    findings.set(`${family} ${fault}`, finding);
  }
}
