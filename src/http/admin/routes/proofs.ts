// Routes of `doctor --deep` and `--repair`: start an operation that compares derived data in Redis with the records.
import type { Actor } from '../../../directory/logs/acts.ts';
import { lastProofs, prove, type ProofProgress } from '../../../ops/prove.ts';
import type { Finished, OperationWork } from '../operations.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { actor, operatorFields, type OperatorFields } from '../operator-fields.ts';
import { accepted, startedAnswer } from './operations.ts';

/** Pause after each portion, so that the process keeps answering identity providers. */
const PAUSE_MS = 5;

export const proofRoutes = (context: AdminContext): AdminRoute[] => [
  route({
    method: 'get',
    path: '/doctor/deep',
    id: 'readProof',
    summary: 'Shows the result of the last comparison of derived data with the records.',
    answers: {
      status: 200,
      description:
        'One report for each connection that has been compared, by the schedule or by an operator.',
      schema: arrayOf(refTo('ProofReport')),
    },
    handle: async () => json(await lastProofs(context.states)),
  }),
  route<OperatorFields>({
    method: 'post',
    path: '/doctor/deep',
    id: 'startProof',
    command: 'doctor --deep',
    summary: 'Compares all derived data in Redis with the records, without a repair.',
    body: body({ ...operatorFields }),
    bodyOptional: true,
    answers: startedAnswer,
    handle: (call) => start(context, 'doctor', actor(call.body, call)),
  }),
  route<OperatorFields>({
    method: 'post',
    path: '/doctor/repair',
    id: 'startRepair',
    command: 'doctor --repair',
    summary: 'Compares all derived data with the records and rebuilds what differs. Reconcile afterwards.',
    body: body({ ...operatorFields }),
    bodyOptional: true,
    answers: startedAnswer,
    handle: (call) => start(context, 'repair', actor(call.body, call)),
  }),
];

async function start(context: AdminContext, kind: 'doctor' | 'repair', by: Actor) {
  const proveConnections = (work: OperationWork): Promise<Finished> => proveAll(context, kind, by, work);
  return accepted(await context.operations.start({ kind, target: undefined, by: by.by }, proveConnections));
}

async function proveAll(
  context: AdminContext,
  kind: 'doctor' | 'repair',
  by: Actor,
  work: OperationWork,
): Promise<Finished> {
  const { signal } = work;
  const onProgress = (progress: ProofProgress): void =>
    work.onProgress({ ...progress, target: null, phase: 'entries' });
  const repairBy = kind === 'repair' ? by : undefined;
  const order = { by: by.by, repairBy, pauseMs: PAUSE_MS, signal, onProgress };
  const reports = await prove(context, context.states, order);
  return { ...conclusionOf(reports), result: [JSON.stringify(reports)] };
}

/** Returns the outcome of the operation, with advice for the operator. */
function conclusionOf(reports: Awaited<ReturnType<typeof prove>>): Pick<Finished, 'outcome' | 'message'> {
  if (reports.some(({ faults, repair }) => faults > 0 && repair))
    return { outcome: 'faults', message: 'Some faults need a decision: the runbook tells what to do.' };
  if (reports.some(({ faults }) => faults > 0))
    return { outcome: 'faults', message: 'Order a repair, then reconcile.' };
  if (reports.some(({ findings }) => findings.length > 0))
    return { outcome: 'repaired', message: 'Reconcile now: the run reads all members and values anew.' };
  return { outcome: 'no faults' };
}
