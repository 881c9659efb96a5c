// Routes of `doctor --deep` and `--repair`: start an operation that compares derived data in Redis with the records.
import { lastProofs, prove, type ProofProgress } from '../../../ops/prove.ts';
import type { Finished, OperationWork } from '../operations.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, refTo } from '../schemas.ts';
import { actor, byField, NOBODY_NAMED } from './holds.ts';
import { accepted, underWay } from './operations.ts';

interface Order {
  by?: string;
}

/** Pause after each portion, so that the process keeps answering identity providers. */
const PAUSE_MS = 5;

export const proofRoutes = (context: AdminContext): AdminRoute[] => [
  route({
    method: 'get',
    path: '/doctor/deep',
    id: 'readProof',
    summary: 'What the last comparison of derived data with the records found, by scheduler or operator.',
    answers: {
      status: 200,
      description: 'One report for each connection that has been compared.',
      schema: arrayOf(refTo('ProofReport')),
    },
    handle: async () => json(await lastProofs(context.states)),
  }),
  route<Order>({
    method: 'post',
    path: '/doctor/deep',
    id: 'startProof',
    twin: 'doctor --deep',
    summary: 'Compares everything derived in Redis with the records, and repairs nothing.',
    body: body({ by: byField }),
    bodyOptional: true,
    answers: underWay,
    handle: ({ body: { by } }) => start(context, 'doctor', by),
  }),
  route<Order>({
    method: 'post',
    path: '/doctor/repair',
    id: 'startRepair',
    twin: 'doctor --repair',
    summary: 'Compares the same and rebuilds what differs; reconcile afterwards.',
    body: body({ by: byField }),
    bodyOptional: true,
    answers: underWay,
    handle: ({ body: { by } }) => start(context, 'repair', by),
  }),
];

async function start(context: AdminContext, kind: 'doctor' | 'repair', by = NOBODY_NAMED) {
  const work = (each: OperationWork): Promise<Finished> => proveAll(context, kind, by, each);
  return accepted(await context.operations.start({ kind, target: undefined, by }, work));
}

async function proveAll(
  context: AdminContext,
  kind: 'doctor' | 'repair',
  name: string,
  { signal, onProgress: show }: OperationWork,
): Promise<Finished> {
  const { by, via } = actor(name);
  const onProgress = (progress: ProofProgress): void => show({ ...progress, target: null, phase: 'entries' });
  const repairVia = kind === 'repair' ? via : undefined;
  const order = { by, repairVia, pauseMs: PAUSE_MS, signal, onProgress };
  const reports = await prove(context, context.states, order);
  return { ...conclusionOf(reports), result: [JSON.stringify(reports)] };
}

function conclusionOf(reports: Awaited<ReturnType<typeof prove>>): Pick<Finished, 'outcome' | 'message'> {
  if (reports.some(({ faults, repair }) => faults > 0 && repair))
    return { outcome: 'faults', message: 'Some faults need a decision: the runbook tells what to do.' };
  if (reports.some(({ faults }) => faults > 0))
    return { outcome: 'faults', message: 'Order a repair, then reconcile.' };
  if (reports.some(({ findings }) => findings.length > 0))
    return { outcome: 'repaired', message: 'Reconcile now: the run reads all members and values anew.' };
  return { outcome: 'no faults' };
}
