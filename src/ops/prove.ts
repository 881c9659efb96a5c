// doctor --deep and --repair: does everything derived in Redis agree with the records? One finding a family and fault.
import type { Actor } from '../directory/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Fault, Finding as Found } from '../directory/proof/findings.ts';
import type { Finding } from './doctor.ts';

export interface ProveOptions {
  /** Who orders the repair; absent: it is only looked. */
  repairBy?: Actor;
  signal?: AbortSignal;
  /** How many entries were looked at. */
  onLooked?: (looked: number) => void;
}

/** What to do about faults that no repair may decide. */
const ADVICE: Partial<Record<Fault, string>> = {
  damaged: 'Push it again at the identity provider, as a whole.',
  doubled: 'Decide whose it is: see explain and links show, then forget one of them.',
  lost: 'Push it again at the identity provider: nothing is taken away for want of its record.',
};

const REPAIR = 'Run doctor --repair, then reconcile.';

/** Proves every connection, one after the other. */
export async function prove(states: readonly DesiredState[], options: ProveOptions = {}): Promise<Finding[]> {
  const { repairBy, signal, onLooked } = options;
  const findings: Finding[] = [];
  for (const { connection, proof, acts } of states) {
    const found = await proof.run({
      repair: repairBy !== undefined,
      request: 'repair',
      ...(signal ? { signal } : {}),
      ...(onLooked ? { onProgress: onLooked } : {}),
    });
    const area = `data ${connection}`;
    if (found.length === 0)
      findings.push({ area, level: 'ok', message: 'agrees with the records', advice: null });
    for (const each of found) findings.push(...toFindings(area, each));
    const count = found.reduce((sum, { repaired }) => sum + repaired, 0);
    if (repairBy) await proof.forget();
    if (repairBy) await acts.record({ act: 'repair', by: repairBy.by, via: repairBy.via, count });
  }
  return findings;
}

function toFindings(area: string, { family, fault, count, repaired, examples }: Found): Finding[] {
  const such = examples.join(', ');
  const findings: Finding[] = [];
  if (repaired > 0)
    findings.push({
      area,
      level: 'ok',
      message: `${family}: ${repaired} ${fault}, repaired (${such})`,
      advice: null,
    });
  const left = count - repaired;
  if (left > 0)
    findings.push({
      area,
      level: 'error',
      message: `${family}: ${left} ${fault} (${such})`,
      advice: ADVICE[fault] ?? REPAIR,
    });
  return findings;
}
