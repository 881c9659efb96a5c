// Describes what a comparison of one connection with one target needs.
import type { Acts } from '../directory/logs/acts.ts';
import type { CoverageReader } from '../directory/outbox/coverage.ts';
import type { Directory } from '../directory/resources/directory.ts';
import type { DriftNotes, Print } from '../directory/outbox/drift.ts';
import type { Links } from '../directory/outbox/links.ts';
import type { Ref } from '../directory/records.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { RunStore } from '../directory/outbox/runs.ts';
import type { Clock } from '../support/sources.ts';
import type { Target } from '../sync/target.ts';
import type { ComparedAttributes } from './compare.ts';

export interface ReconcileScope {
  connection: string;
  /** Audit entries of operators. */
  acts: Acts;
  target: Target;
  /** Digest of the rules that map records for this target (digest.ts). */
  digest: string;
  members: 'owned' | 'authoritative';
  /** Calls to the platform at the same time. */
  concurrency: number;
  directory: Directory;
  links: Links;
  outbox: Outbox;
  drifts: DriftNotes;
  coverage: CoverageReader;
  runs: RunStore;
  /** The notes of other connections that feed the same target: what they are linked to is managed too. */
  others: DriftNotes[];
  clock: Clock;
  random: () => number;
}

/** How far a comparison has come. */
export interface Progress {
  phase: 'users' | 'groups' | 'members' | 'values' | 'second look' | 'apply';
  done: number;
  total: number;
}

/** One comparison that is under way. */
export interface ScanResult {
  estate: ReconcileScope;
  signal: AbortSignal;
  visibility: ComparedAttributes;
  /** Calls made so far, and resources that could not be read. */
  tally: {
    calls: number;
    unknown: number;
    /** Left out, because a sync was at work on them. */ moved: number;
  };
  onProgress: (progress: Progress) => void;
  /** Resources that are not covered although nothing is on its way: a run marks them (ADR 0021). */
  lost: Set<Ref>;
  /** Derived data was repaired since the last run: what was lost with it is looked for everywhere. */
  isRepaired: boolean;
  /** The platform's address is another one than when its accounts were last recognised. */
  hasMoved: boolean;
  /** Keeps what was found equal, for the next run; does nothing where nothing may be written. */
  remember: (prints: Print[]) => Promise<void>;
}
