// Describes what a comparison of one connection with one target needs.
import type { Acts } from '../directory/logs/acts.ts';
import type { CoverageReader } from '../directory/outbox/coverage-reader.ts';
import type { Directory } from '../directory/resources/directory.ts';
import type { DriftNotes, Print } from '../directory/outbox/drift.ts';
import type { HandoverStore } from '../directory/outbox/handover-store.ts';
import type { Links } from '../directory/outbox/links.ts';
import type { Ref } from '../directory/records.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { RunStore } from '../directory/outbox/runs.ts';
import type { Clock } from '../support/sources.ts';
import type { Target } from '../sync/target.ts';
import type { ComparedAttributes } from './compare/shown-attributes.ts';
import type { FindConsoleAccounts } from './compare/console-list.ts';
import type { RepeatRead } from './scan/repeat-after-429.ts';

export interface ReconcileScope {
  connection: string;
  /** Audit entries of operators. */
  acts: Acts;
  target: Target;
  /** Digest of the mapping rules of this target (tenant/digest.ts). */
  digest: string;
  /** Returns whether all processes of the service that run have these rules. */
  rulesAgree: () => Promise<boolean>;
  /** Returns whether Redis came back empty: nothing is known of people who were not pushed again. */
  isDataLost: () => Promise<boolean>;
  /** Number of concurrent platform calls. */
  concurrency: number;
  directory: Directory;
  links: Links;
  /** Returns the targets that the settings had for this connection and no longer have. */
  formerTargets: () => Promise<string[]>;
  /** Returns whether an account or group of a former target is linked at a target of the settings: the target got a new name. */
  isLinkedAnew: (formerTarget: string, found: { ref: Ref; id: string }) => Promise<boolean>;
  outbox: Outbox;
  /** Links and marks of this connection, and the store of suspected drift. */
  drifts: DriftNotes;
  coverage: CoverageReader;
  runs: RunStore;
  handovers: HandoverStore;
  /**
   * Links and marks of the other connections of this target: an account or group that one of them has linked does not count as
   * unmanaged.
   */
  others: DriftNotes[];
  clock: Clock;
  /** Returns a number from 0 to below 1, as Math.random does. */
  random: () => number;
}

export interface Progress {
  /** `second look`: users are read one by one after the user list (compare/verify-users.ts). */
  phase: 'users' | 'groups' | 'members' | 'values' | 'second look' | 'apply';
  done: number;
  total: number;
}

/** A resource that could not be read. */
export interface UnreadResource {
  ref: Ref;
  /** Name at the platform by the link; the ref if the link has none. */
  name: string;
  /** The last failed read, with the answer; null: no read failed, for example if a listed account answered 404. */
  why: string | null;
}

/** State and findings of a running comparison, which its steps add to. */
export interface ScanResult {
  scope: ReconcileScope;
  signal: AbortSignal;
  /** Attributes that the user list shows at all. A list may leave an attribute out, so an account without it need not differ. */
  visibility: ComparedAttributes;
  counts: {
    calls: number;
    /** Number of resources that were skipped, because a push or a sync changed them during every read. */
    moved: number;
  };
  /** Resources that could not be read. */
  unread: Map<Ref, UnreadResource>;
  /** Runs a read. It is repeated after a 429 in a comparison of all resources and in the check of a saved plan. */
  repeatAfter429: RepeatRead;
  /** Called with each failed read of the platform. */
  noteFailure?: (failure: string) => void;
  onProgress: (progress: Progress) => void;
  /**
   * The accounts of the user list that no connection is linked to, as platform id to userName; absent: no list is read. An account
   * that the list does not show has to be read alone.
   */
  unmanagedAccounts?: Promise<ReadonlyMap<string, string>>;
  /**
   * Returns whether the whole user list of this comparison does not show an account; absent: no list is read. A 404 for an account
   * proves nothing alone, because a proxy may send it too (sync/calls/absence.ts).
   */
  isUnlisted?: (platformId: string) => Promise<boolean>;
  /** Resources that need a sync although none is due (LOST in directory/outbox/coverage.ts, ADR 0021); the run marks them. */
  lost: Set<Ref>;
  /** Whether derived data was repaired since the last run; then the run searches all resources for lost marks. */
  isRepaired: boolean;
  /** Whether the platform's address changed since the tenant was last recognised. */
  hasMoved: boolean;
  /** Finds the console accounts of a name; their numeric ids key the attribute values. */
  findConsoleAccounts: FindConsoleAccounts;
  /** As `findConsoleAccounts`, in one list of all accounts: for a comparison of all users. */
  findListedAccounts: FindConsoleAccounts;
  /** Stores fingerprints of equal accounts for the next run; does nothing in a read-only comparison. */
  remember: (prints: Print[]) => Promise<void>;
}
