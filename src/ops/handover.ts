// Lists the handovers of closed accounts, and takes a handover back.
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { HandedItem, Handover, HandoverHead } from '../directory/outbox/handover-store.ts';
import type { Ref } from '../directory/records.ts';
import { giveBack, type GivenBack } from '../reconcile/handover/give-back.ts';
import { handoverOptions } from '../reconcile/handover/handover-steps.ts';
import { underRunLock } from '../reconcile/apply/run-lock.ts';
import { unrecognisedText } from '../reconcile/tenant/tenant.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { counted } from '../support/counted.ts';
import { isoTime } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { findForOrder, type Searched } from './find.ts';

/** One handover, as the command prints it. Times are ISO 8601. */
export interface ListedHandover {
  connection: string;
  target: string;
  ref: Ref;
  name: string;
  state: HandoverHead['state'];
  closedAt: string;
  startedAt: string;
  endedAt: string | null;
  deployment: string;
  /** Id and name of the person's folder; null: there is none. */
  folder: { id: string; name: string } | null;
  /** Operator who ordered the move back; null: no operator did. */
  by: string | null;
  counts: Partial<Record<HandedItem['state'], number>>;
  items: HandedItem[];
}

/** Yields the handovers of all connections and targets, the oldest of each target first. */
export async function* listHandovers(states: readonly DesiredState[]): AsyncGenerator<ListedHandover> {
  for (const { connection, handovers } of states)
    for (const store of handovers.values())
      for await (const refs of store.refs())
        for (const ref of refs) {
          const found = await readHandover(connection, store, ref);
          if (found) yield found;
        }
}

/** Returns one handover; undefined: there is none. */
async function readHandover(
  connection: string,
  store: Pick<ReconcileScope['handovers'], 'read' | 'target'>,
  ref: Ref,
): Promise<ListedHandover | undefined> {
  const stored = await store.read(ref);
  return stored && toListedHandover({ connection, target: store.target, ref }, stored);
}

/** Returns a stored handover as the command prints it. */
export function toListedHandover(
  place: Pick<ListedHandover, 'connection' | 'target' | 'ref'>,
  { head, items }: Handover,
): ListedHandover {
  const counts: ListedHandover['counts'] = {};
  for (const { state } of items) counts[state] = (counts[state] ?? 0) + 1;
  return {
    ...place,
    name: head.name,
    state: head.state,
    closedAt: isoTime(head.closedAt),
    startedAt: isoTime(head.startedAt),
    endedAt: head.endedAt === undefined ? null : isoTime(head.endedAt),
    deployment: head.deployment,
    folder: head.folder === undefined ? null : { id: head.folder, name: head.folderName ?? '' },
    by: head.by ?? null,
    counts,
    items,
  };
}

/** `problem`: why not all items are back, as a sentence. */
type UndoneHandover = Pick<GivenBack, 'returned' | 'left' | 'problem'> &
  Pick<ListedHandover, 'connection' | 'target' | 'ref' | 'name'>;

/** A handover that an order takes back. */
interface UndoableHandover {
  scope: ReconcileScope;
  handover: ListedHandover;
}

/** Returns whether the person is known, and the handovers that can be taken back. */
export async function findHandovers(
  scopes: readonly ReconcileScope[],
  searched: readonly Searched[],
  text: string,
): Promise<{ isKnown: boolean; found: UndoableHandover[] }> {
  const resources = (await findForOrder(searched, text)).filter(({ kind }) => kind === 'User');
  const found: UndoableHandover[] = [];
  for (const { connection, ref } of resources)
    for (const scope of scopes.filter((each) => each.connection === connection)) {
      const handover = await readHandover(connection, scope.handovers, ref);
      if (handover && handover.state !== 'returned') found.push({ scope, handover });
    }
  return { isKnown: resources.length > 0, found };
}

/**
 * Takes a handover back, between reconcile runs. The audit log has the order before anything is moved. Nothing is moved at a target
 * that may be another tenant. @param id of the order
 */
export async function undoHandover(
  { scope, handover }: UndoableHandover,
  { actor, signal, logger, id }: { actor: Actor; signal: AbortSignal; logger: Logger; id: string },
): Promise<UndoneHandover> {
  const { connection, target, ref, name, counts } = handover;
  // At another tenant the ids of the folder and of the items may lead to the work of somebody else.
  const unrecognised = await scope.outbox.whyUnrecognised();
  if (unrecognised)
    return {
      connection,
      target,
      ref,
      name,
      returned: 0,
      left: 0,
      problem: unrecognisedText(target, unrecognised),
    };
  await scope.acts.record({ act: 'undoHandover', ...actor, target, subject: ref, count: counts.moved ?? 0 });
  const back = await underRunLock(scope, signal, (lockSignal) =>
    giveBack(
      scope,
      ref,
      handoverOptions(scope, { signal: lockSignal, logger, request: `handover:${id}` }),
      actor.by,
    ),
  );
  const { returned, left } = back;
  const problem = whyNotAllBack(back);
  return { connection, target, ref, name, returned, left, ...(problem === undefined ? {} : { problem }) };
}

/** Returns why items are not back, as a sentence; undefined: all are. */
function whyNotAllBack({ problem, refused, unconfirmed }: GivenBack): string | undefined {
  if (problem !== undefined) return problem;
  if (refused > 0)
    return `the platform refused the move of ${counted(refused, 'item')}: see scim-bridge handover list`;
  return unconfirmed > 0 ? 'the platform does not show all items in their places yet' : undefined;
}
