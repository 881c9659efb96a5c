// Creates the state of a comparison of a few known resources, which stores nothing for later runs.
import { createVisibility } from '../compare/shown-attributes.ts';
import { listConsoleAccounts, searchConsoleAccounts } from '../compare/console-list.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';

/** Absent: failures are not told, and each read is made once. */
interface NarrowOptions {
  noteFailure?: ScanResult['noteFailure'] | undefined;
  repeatAfter429?: ScanResult['repeatAfter429'];
}

/** Returns a scan without visibility notes, lost resources and stored fingerprints. */
export function createNarrowScan(
  scope: ReconcileScope,
  signal: AbortSignal,
  { noteFailure = () => undefined, repeatAfter429 = (read) => read() }: NarrowOptions = {},
): ScanResult {
  const counts = { calls: 0, moved: 0 };
  return {
    scope,
    noteFailure,
    signal,
    repeatAfter429,
    visibility: createVisibility(),
    counts,
    unread: new Map(),
    onProgress: () => undefined,
    lost: new Set(),
    isRepaired: false,
    hasMoved: false,
    findConsoleAccounts: searchConsoleAccounts(scope.target.client, counts),
    findListedAccounts: listConsoleAccounts(scope.target.client, counts, repeatAfter429),
    remember: () => Promise.resolve(),
  };
}
