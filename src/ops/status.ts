// How far each target is behind, and what a person has to look at.
import type { DesiredState } from '../directory/desired-state.ts';
import type { RunReport } from '../directory/runs.ts';
import type { Hold } from '../directory/staging.ts';
import type { DestructiveKind } from '../guard/judge.ts';

export interface TargetStatus {
  connection: string;
  target: string;
  /** In the desired state. */
  users: number;
  groups: number;
  /** Not equal yet, under way, in need of a person. */
  dirty: number;
  inflight: number;
  blocked: number;
  guard: Record<DestructiveKind, number> & { held: number };
  hold: Hold | null;
  reconcile: { last: RunReport | null; /** Unix milliseconds. */ lastSuccessAt: number | null };
}

/** One row for each connection and target. */
export async function readStatus(states: readonly DesiredState[]): Promise<TargetStatus[]> {
  const rows: TargetStatus[] = [];
  for (const state of states) {
    const { connection, directory } = state;
    const [users, groups] = await Promise.all([directory.count('User'), directory.count('Group')]);
    for (const target of state.outboxes.keys())
      rows.push({ connection, target, users, groups, ...(await readTarget(state, target)) });
  }
  return rows;
}

type TargetPart = Omit<TargetStatus, 'connection' | 'target' | 'users' | 'groups'>;

async function readTarget({ outboxes, runs }: DesiredState, target: string): Promise<TargetPart> {
  const outbox = outboxes.get(target);
  if (!outbox) throw new Error(`There is no outbox of ${target}.`);
  const [depth, { total, ...kinds }, hold, state] = await Promise.all([
    outbox.depth(),
    outbox.staging.held(),
    outbox.staging.onHold(),
    runs.get(target)?.read(),
  ]);
  const { last, lastSuccessAt } = state ?? {};
  return {
    ...depth,
    guard: { held: total, ...kinds },
    hold: hold ?? null,
    reconcile: { last: last ?? null, lastSuccessAt: lastSuccessAt ?? null },
  };
}

/** Nothing waits: neither for the worker nor for a person. */
export const isConverged = ({ dirty, blocked, guard }: TargetStatus): boolean =>
  dirty + blocked + guard.held === 0;
