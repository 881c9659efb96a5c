// How far each target is behind, and what a person has to look at.
import type { Backlog } from '../directory/backlog.ts';
import type { Breaker, BreakerState } from '../directory/breaker.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { EventStanding } from '../directory/event-stream.ts';
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
  /** Age of the oldest accepted change that is not applied, in milliseconds; 0 when all is. */
  oldestMs: number;
  /** Waiting to be handed over, by urgency. */
  lanes: Backlog['lanes'];
  breaker: BreakerState;
  guard: Record<DestructiveKind, number> & { held: number };
  hold: Hold | null;
  reconcile: { last: RunReport | null; /** Unix milliseconds. */ lastSuccessAt: number | null };
  /** Security events of the connection; null = it has no receiver. */
  events: EventStanding | null;
}

/** One row for each connection and target. @param breakers by target */
export async function readStatus(
  states: readonly DesiredState[],
  breakers: Map<string, Pick<Breaker, 'read'>>,
): Promise<TargetStatus[]> {
  const rows: TargetStatus[] = [];
  for (const state of states) {
    const { connection, directory } = state;
    const [users, groups, events] = await Promise.all([
      directory.count('User'),
      directory.count('Group'),
      directory.tellsEvents ? state.events.standing() : null,
    ]);
    for (const target of state.outboxes.keys()) {
      const breaker = (await breakers.get(target)?.read()) ?? { open: false };
      const part = await readTarget(state, target);
      rows.push({ connection, target, users, groups, breaker, ...part, events });
    }
  }
  return rows;
}

type TargetPart = Omit<TargetStatus, 'connection' | 'target' | 'users' | 'groups' | 'breaker' | 'events'>;

async function readTarget({ outboxes }: DesiredState, target: string): Promise<TargetPart> {
  const outbox = outboxes.get(target);
  if (!outbox) throw new Error(`There is no outbox of ${target}.`);
  const [backlog, hold] = await Promise.all([outbox.backlog(), outbox.staging.onHold()]);
  const { dirty, inflight, blocked, oldestMs, lanes, held, lastRun, lastSuccessAt } = backlog;
  const total = Object.values(held).reduce((sum, each) => sum + each, 0);
  return {
    ...{ dirty, inflight, blocked, oldestMs, lanes },
    guard: { held: total, ...held },
    hold: hold ?? null,
    reconcile: { last: lastRun ?? null, lastSuccessAt: lastSuccessAt ?? null },
  };
}

/** Nothing waits: neither for the worker nor for a person. */
export const isConverged = ({ dirty, blocked, guard }: TargetStatus): boolean =>
  dirty + blocked + guard.held === 0;
