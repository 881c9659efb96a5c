// Converts the reports of the runs of an operation (reconcile, apply) to its result.
import type { Outcome, RunReport } from '../../directory/outbox/runs.ts';
import type { Finished } from './operations.ts';

/** The report of a run, and its scope in words: connection and target. */
export interface ReportOfScope {
  scope: string;
  report: RunReport;
}

/** Returns the worst outcome, with the message and the reports of the runs. */
export function toFinished(all: readonly ReportOfScope[]): Finished {
  const outcome =
    WORST_FIRST.find((each) => all.some(({ report }) => report.outcome === each)) ?? 'converged';
  const reports = all.map(({ report }) => report);
  return { outcome, message: messageOf(all), result: [JSON.stringify(reports)] };
}

/** Outcomes (`Outcome` of runs.ts says what each means) from worst to best: an operation reports the worst outcome of its runs. */
const WORST_FIRST: Outcome[] = [
  'failed',
  'incomplete',
  'unproven',
  'blocked',
  'held',
  'drifted',
  'converged',
];

/** Returns the message of one run; of several runs the scope, outcome and message of each; undefined: no run has a message. */
function messageOf(all: readonly ReportOfScope[]): string | undefined {
  const [first, ...others] = all;
  if (others.length === 0) return first?.report.message;
  if (all.every(({ report }) => report.message === undefined)) return undefined;
  const texts = all.map(({ scope, report }) =>
    [
      scope,
      report.outcome,
      ...(report.message === undefined ? [] : [report.message.replace(/\.$/, '')]),
    ].join(': '),
  );
  return texts.join('. ');
}
