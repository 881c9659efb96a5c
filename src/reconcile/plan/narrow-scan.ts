// Creates the state of a comparison of a few known resources, which stores nothing for later runs.
import { createVisibility } from '../compare/compare.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';

/** Returns a scan without visibility notes, lost resources and stored fingerprints. */
export const createNarrowScan = (
  scope: ReconcileScope,
  signal: AbortSignal,
  noteFailure: (failure: string) => void = () => undefined,
): ScanResult => ({
  scope,
  noteFailure,
  signal,
  visibility: createVisibility(),
  counts: { calls: 0, moved: 0 },
  unread: new Map(),
  onProgress: () => undefined,
  lost: new Set(),
  isRepaired: false,
  hasMoved: false,
  remember: () => Promise.resolve(),
});
