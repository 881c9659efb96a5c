// Compares derived data in Redis with the records, optionally repairs it, and stores the findings.
import type { Actor } from '../../directory/logs/acts.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import { createFindings } from '../../directory/proof/findings.ts';
import type { LastProof } from '../../directory/proof/last-proof.ts';
import type { Clock } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';

interface ProofOrder {
  /** Operator or process that ordered the proof. */
  by: string;
  /** Operator who ordered a repair; undefined: no repair. */
  repairBy?: Actor | undefined;
  /** Pause after each portion of entries, so that Redis serves others meanwhile. */
  pauseMs?: number;
  signal?: AbortSignal;
  onProgress?: (progress: ProofProgress) => void;
}

/** Entries of one connection that were checked; `total` is an estimate. */
export interface ProofProgress {
  connection: string;
  done: number;
  total: number;
}

export interface ProofReport extends LastProof {
  connection: string;
}

type Deps = { clock: Clock; logger: Logger };

/** Compares, and optionally repairs, the connections one after the other. */
export async function prove(
  deps: Deps,
  states: readonly DesiredState[],
  order: ProofOrder,
): Promise<ProofReport[]> {
  const reports: ProofReport[] = [];
  for (const state of states) reports.push(await proveConnection(deps, state, order));
  return reports;
}

/**
 * Compares and optionally repairs one connection.
 * @throws when `order.signal` aborts; repairs before that are in the log of the service
 */
export async function proveConnection(
  deps: Deps,
  { connection, directory, proof, acts }: DesiredState,
  order: ProofOrder,
): Promise<ProofReport> {
  const { by, repairBy, pauseMs, signal, onProgress } = order;
  const repair = repairBy !== undefined;
  const startedAt = deps.clock.now();
  const findings = createFindings();
  const [users, groups] = await Promise.all([directory.count('User'), directory.count('Group')]);
  const estimate = ENTRIES_EACH * (users + groups);
  const onLooked = (done: number): void =>
    onProgress?.({ connection, done, total: Math.max(done, estimate) });
  if (repairBy) await acts.record({ act: 'repair', ...repairBy });
  try {
    // `request`: correlation id of the marks that a repair sets; without a repair it has no effect.
    await proof.run({ repair, request: 'repair', pauseMs, signal, onLooked }, findings);
  } finally {
    if (repair) logRepairs();
  }
  const found = findings.all();
  const faults = found.reduce((sum, { count, repaired }) => sum + count - repaired, 0);
  const last = { startedAt, endedAt: deps.clock.now(), by, repair, faults, findings: found };
  await proof.keep(last);
  return { connection, ...last };

  function logRepairs(): void {
    for (const { family, fault, repaired, examples } of findings.all().filter((each) => each.repaired > 0))
      deps.logger.info({ connection, family, fault, repaired, examples, by }, 'derived data repaired');
  }
}

/**
 * Estimated Redis entries of one resource, for the total of the progress. A user has about eight: record, creation order,
 * userName, externalId, link, reverse link, and two entries of a membership.
 */
const ENTRIES_EACH = 8;

/** Returns the last proof of each connection; connections without a proof are left out. */
export async function lastProofs(states: readonly DesiredState[]): Promise<ProofReport[]> {
  const kept = await Promise.all(
    states.map(async ({ connection, proof }) => ({ connection, last: await proof.last() })),
  );
  return kept.flatMap(({ connection, last }) => (last ? [{ connection, ...last }] : []));
}
