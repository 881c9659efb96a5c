// Routes of doctor, of its comparison of derived data with the records (docs/proof.md), and of verify-access.
import { askAccess, type AccessQuestion } from '../../../verify-access/verify-access.ts';
import { Problem } from '../problem.ts';
import {
  type AdminAnswer,
  type AdminContext,
  type AdminRoute,
  getRoute,
  json,
  postRoute,
  requireTarget,
} from '../route.ts';
import { arrayOf, body, nameField } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import type { Actor } from '../../../directory/logs/acts.ts';
import { lastProofs, type ProofProgress, prove } from '../../../ops/doctor/prove.ts';
import type { Finished, OperationWork } from '../operations.ts';
import { orderRoute } from '../operator-fields.ts';
import { accepted, startedAnswer } from './operations.ts';

/**
 * The options that the API offers. Two options of the command are left out: with a platform address, a client could make the bridge
 * send its platform key anywhere; and the API secret of a deployment must not be sent to the bridge.
 */
type AccessBody = Pick<
  AccessQuestion,
  'user' | 'connection' | 'target' | 'deployment' | 'environment' | 'query'
>;

/** Pause after each portion of a comparison of derived data, so that the process keeps answering identity providers. */
const PAUSE_MS = 5;

export const checkRoutes = (context: AdminContext): AdminRoute[] => [
  getRoute('/doctor', 'doctor', {
    command: 'doctor --json',
    summary: 'Checks Redis, every target, clocks and settings, and says what to do.',
    answers: {
      description: 'One finding for each check; a finding of level error has to be mended.',
      schema: arrayOf(refTo('Finding')),
    },
    handle: async ({ signal }) => json(await context.check(signal)),
  }),
  postRoute<AccessBody>('/verify-access', 'verifyAccess', {
    right: 'read',
    command: 'verify-access USER --json',
    summary: 'Reads one person from the platform and reports what this person can see there.',
    body: body(
      {
        user: nameField('userName, externalId, address, id, or a ref such as User:3f…'),
        connection: nameField('Needed when several connections have pushed the person.'),
        target: nameField('Needed when the person is synced to several targets.'),
        deployment: nameField('Id or name; default: the first deployment that the platform key reaches.'),
        environment: nameField('Id or name; default: production.'),
        query: { type: 'object', description: 'JSON query to run; default: a query that counts rows.' },
      },
      ['user'],
    ),
    answers: {
      description:
        'The chain push → stored → applied → visible; ok is false when a stage of the chain is missing.',
      schema: refTo('AccessReport'),
    },
    refuses: {
      404: 'No person has this name, or there is no such target.',
      409: 'The request fits several people or targets, or names an unknown deployment or environment.',
      502: 'The platform cannot be read.',
    },
    handle: ({ body, signal }) => verify(context, body, signal),
  }),
  getRoute('/doctor/deep', 'readProof', {
    summary: 'Shows the result of the last comparison of derived data with the records.',
    answers: {
      description: 'One report for each connection that has been compared, by the service or by an operator.',
      schema: arrayOf(refTo('ProofReport')),
    },
    handle: async () => json(await lastProofs(context.states)),
  }),
  orderRoute('/doctor/deep', 'startProof', {
    command: 'doctor --deep',
    summary: 'Compares all derived data in Redis with the records, without a repair.',
    answers: startedAnswer,
    handle: (_order, actor) => start(context, 'doctor', actor),
  }),
  orderRoute('/doctor/repair', 'startRepair', {
    command: 'doctor --repair',
    summary: 'Compares all derived data with the records and rebuilds what differs. Reconcile afterwards.',
    answers: startedAnswer,
    handle: (_order, actor) => start(context, 'repair', actor),
  }),
];

/** Returns the report of verify-access. @throws Problem 404, 409 or 502 when there is none */
async function verify(context: AdminContext, body: AccessBody, signal: AbortSignal): Promise<AdminAnswer> {
  requireTarget(context, body.target);
  const scopes = context.scopes.map(({ scope }) => scope);
  const { addresses, readFleet } = context;
  const answer = await askAccess({ scopes, addresses, readFleet }, body, signal);
  switch (answer.kind) {
    case 'report':
      return json(answer.report);
    case 'unknown':
      throw new Problem(
        404,
        'No person has this name in the connections of the settings: the identity provider has not pushed this person. ' +
          '/admin/v1/links/show also finds accounts of connections that left the settings.',
      );
    case 'unclear':
      throw new Problem(409, answer.message);
    case 'unread':
      throw new Problem(
        502,
        `The platform cannot be read: ${answer.message}. Check it with scim-bridge doctor.`,
      );
  }
}

/** Starts the comparison of derived data as an operation. @returns the answer with its first state */
async function start(context: AdminContext, kind: 'doctor' | 'repair', actor: Actor) {
  const proveConnections = (work: OperationWork): Promise<Finished> => proveAll(context, kind, actor, work);
  // Derived data is checked for each connection, so the operation has no target.
  return accepted(
    await context.operations.start({ kind, target: undefined, by: actor.by }, proveConnections),
  );
}

/** Compares derived data with the records; the kind `repair` also rebuilds what differs. @returns the reports */
async function proveAll(
  context: AdminContext,
  kind: 'doctor' | 'repair',
  actor: Actor,
  work: OperationWork,
): Promise<Finished> {
  const { signal } = work;
  const onProgress = (progress: ProofProgress): void =>
    work.onProgress({ ...progress, target: null, phase: 'entries' });
  const repairBy = kind === 'repair' ? actor : undefined;
  const order = { by: actor.by, repairBy, pauseMs: PAUSE_MS, signal, onProgress };
  const reports = await prove(context, context.states, order);
  return { ...conclusionOf(reports), result: [JSON.stringify(reports)] };
}

/**
 * Returns the outcome of the operation, with advice for the operator. `findings` has all entries that differ, also the repaired
 * ones; `faults` is the number of entries that were not repaired.
 */
function conclusionOf(reports: Awaited<ReturnType<typeof prove>>): Pick<Finished, 'outcome' | 'message'> {
  if (reports.some(({ faults, repair }) => faults > 0 && repair))
    return { outcome: 'faults', message: 'Some faults need a decision: the runbook tells what to do.' };
  if (reports.some(({ faults }) => faults > 0))
    return { outcome: 'faults', message: 'Order a repair, then reconcile.' };
  if (reports.some(({ findings }) => findings.length > 0))
    return { outcome: 'repaired', message: 'Reconcile now: the run reads all members and values anew.' };
  return { outcome: 'no faults' };
}
