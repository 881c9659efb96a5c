// Formats the results of a proof of derived data as findings of doctor.
import type { Fault, Finding } from '../../directory/proof/findings.ts';
import { findingFor, type DoctorFinding } from './doctor-finding.ts';
import type { ProofReport } from './prove.ts';
import { isoTime } from '../../support/sources.ts';

/** Advice for faults that no repair may decide. */
const ADVICE: Partial<Record<Fault, string>> = {
  damaged: 'Push the resource again at the identity provider, as a whole.',
  doubled:
    'Decide whose it is: see scim-bridge explain NAME and scim-bridge links show NAME, then scim-bridge links forget NAME.',
  lost: 'Push the resource again at the identity provider: nothing is taken away while its record is missing.',
};
const REPAIR = 'Run scim-bridge doctor --repair, then scim-bridge reconcile.';

/** The service runs a proof every hour, so a last proof older than a day means that no process runs that makes it. */
const OLD_MS = 24 * 60 * 60_000;

/** Returns one finding for each family and fault of a proof that has just ended. */
export function proofFindings({ connection, findings }: ProofReport): DoctorFinding[] {
  if (findings.length === 0) return [findingFor(`data ${connection}`).ok('agrees with the records')];
  return findings.flatMap((found) => toFindings(connection, found));
}

function toFindings(
  connection: string,
  { family, fault, count, repaired, examples }: Finding,
): DoctorFinding[] {
  const { ok, error } = findingFor(`data ${connection}`);
  const resources = examples.join(', ');
  const done = ok(`${family}: ${repaired} ${fault}, repaired (${resources})`);
  const left = error(`${family}: ${count - repaired} ${fault} (${resources})`, ADVICE[fault] ?? REPAIR);
  return [...(repaired > 0 ? [done] : []), ...(repaired < count ? [left] : [])];
}

/** Returns one finding for each connection about its last proof, which the service or an operator made. */
export function lastProofFindings(
  connections: readonly string[],
  reports: readonly ProofReport[],
  now: number,
): DoctorFinding[] {
  return connections.map((connection) => {
    const { ok, warning, error } = findingFor(`data ${connection}`);
    const report = reports.find((each) => each.connection === connection);
    if (!report) return ok('not compared with the records yet');
    const message = `${proofSummary(report)} (compared ${isoTime(report.endedAt)})`;
    if (report.faults > 0) return error(message, 'Run scim-bridge doctor --deep.');
    if (now - report.endedAt <= OLD_MS) return ok(message);
    return warning(
      message,
      'The service compares once an hour: check that a process with the role all, worker or scheduler runs.',
    );
  });
}

/**
 * Returns a summary without the repaired faults, such as `agrees with the records`, or
 * `3 entries differ from the records: userNames 3 missing`.
 */
export function proofSummary({ faults, findings }: Pick<ProofReport, 'faults' | 'findings'>): string {
  if (faults === 0) return 'agrees with the records';
  const left = findings.filter(({ count, repaired }) => repaired < count);
  const parts = left.map(({ family, fault, count, repaired }) => `${family} ${count - repaired} ${fault}`);
  return `${faults} ${faults === 1 ? 'entry differs' : 'entries differ'} from the records: ${parts.join(', ')}`;
}
