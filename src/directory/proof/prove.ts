// Proves that all derived data agrees with the records, and repairs it on request (docs/proof.md). Each portion is checked
// and repaired by one atomic script, so pushes and syncs go on meanwhile.
import { randomUUID } from 'node:crypto';
import { REPAIRED } from '../outbox/mapped-by.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { keysLike, scanned } from '../redis/portions.ts';
import { createFindings, type Finding, type Findings } from './findings.ts';
import { createLastProof } from './last-proof.ts';
import {
  PENDING_OR_HELD,
  MEMBER_SETS,
  scanOfKey,
  scansOfLinks,
  scansOfMarks,
  scansOfRecords,
  type ProofScan,
} from './scans.ts';

export interface ProofOptions {
  repair: boolean;
  /** Correlation id of the marks that a repair sets. */
  request: string;
  /** Pause after each PAUSE_AFTER entries, milliseconds. */
  pauseMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the number of entries checked so far. */
  onLooked?: (looked: number) => void;
}

/** Entries per script call: few, because other clients of Redis wait meanwhile. */
const PORTION = 100;
/** Number of entries after which the proof pauses. */
const PAUSE_AFTER = 200;
/** Keys that one SCAN looks at. */
const KEYS_AT_ONCE = 500;

export function createProof(
  { redis, scripts, keys }: StoreDeps,
  { targets, rulesReadGroups }: { targets: string[]; rulesReadGroups: boolean },
) {
  /**
   * Makes the next reconcile map all users and read all members and values. Each note has a new number, so that a run that is
   * already under way does not remove it (note_anew.lua).
   */
  const forgetMappings = async (): Promise<void> => {
    for (const target of targets)
      await redis.set(keys.key('mapped', target), `${REPAIRED} ${await redis.incr(keys.key('runs'))}`);
  };

  /**
   * Checks everything once, in the order that the repair needs: records first, because all else is derived from them, and marks
   * last, because other repairs set marks. Returns the findings; faults that a repair leaves need an operator.
   * @param findings filled during the run, so that after an abort the caller knows what was repaired
   */
  async function run(options: ProofOptions, findings: Findings = createFindings()): Promise<Finding[]> {
    const { repair, request, pauseMs = 0, signal, onLooked } = options;
    let looked = 0;
    /** Entries since the last pause. They are counted over several keys, because many keys hold only a few. */
    let sincePause = 0;

    /** Pauses when enough entries were checked. */
    async function pauseAfter(entries: number): Promise<void> {
      sincePause += entries;
      if (pauseMs === 0 || sincePause < PAUSE_AFTER) return;
      sincePause = 0;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }

    /** Runs one scan, and adds the faults that it finds to the findings. */
    async function scan({ script, args }: ProofScan): Promise<void> {
      // A scan of one target sets marks at this target only.
      const markedAt = 'target' in args ? [args.target] : targets;
      const replies = scanned(async (cursor) => {
        signal?.throwIfAborted();
        const all = { rulesReadGroups, count: PORTION, ...args, targets: markedAt, cursor, repair, request };
        const [next, seen, faults] = await scripts.values(`prove_${script}`, keys.base, all);
        return [next, { seen: Number(seen), faults: faults as string[] }];
      });
      for await (const { seen, faults } of replies) {
        looked += seen;
        findings.add(faults);
        onLooked?.(looked);
        await pauseAfter(seen);
      }
    }

    /** Returns the keys that MEMBER_SETS or PENDING_OR_HELD match, each once and without the base. */
    async function matchedKeys(): Promise<string[]> {
      const names = new Set<string>();
      for await (const found of keysLike(redis, `${keys.base}*`, KEYS_AT_ONCE)) {
        signal?.throwIfAborted();
        for (const each of found.map((name) => name.slice(keys.base.length)))
          if (MEMBER_SETS.test(each) || PENDING_OR_HELD.test(each)) names.add(each);
        await pauseAfter(PAUSE_AFTER); // a SCAN takes as long as that many entries
      }
      return [...names];
    }

    const scanKeys = async (names: readonly string[]): Promise<void> => {
      for (const name of names) {
        const found = scanOfKey(name, targets);
        if (found) await scan(found);
      }
    };
    const scanAll = async (scans: readonly ProofScan[]): Promise<void> => {
      for (const each of scans) await scan(each);
    };

    if (repair) await forgetMappings();
    await scanAll(scansOfRecords());
    // The count of members at the source is proved by a sum over all member sets, which begins before the keys are listed. A push
    // that creates a member set later adds the set to the sum itself.
    const counting = randomUUID();
    await scan({ script: 'count', args: { step: 'begin', run: counting } });
    const names = await matchedKeys();
    await scanKeys(names.filter((name) => MEMBER_SETS.test(name)));
    await scan({ script: 'count', args: { step: 'end', run: counting } });
    await scanAll(targets.flatMap(scansOfLinks));
    await scanKeys(names.filter((name) => PENDING_OR_HELD.test(name)));
    await scanAll(targets.flatMap(scansOfMarks));
    // The note is repeated, because a reconcile that ran during the repair has not seen all repairs.
    if (repair) await forgetMappings();
    return findings.all();
  }

  return { run, ...createLastProof({ redis, scripts, keys }) };
}
