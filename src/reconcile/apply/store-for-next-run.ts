// Stores what a run has found for the next one: where slow reads continue, groups with equal members, confirmed removals, links
// with values that the platform had already, attribute definitions, and whether all users are mapped by the present rules. Values
// that were lost with a definition and are not written yet stay noted as lost, so that the next run compares them again.
import type { ComparedDefinitions } from '../../directory/outbox/known-definitions.ts';
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import type { RunFindings } from '../plan/run-findings.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Stores the findings of a run.
 * @param isAllMarked false: resources of the plan were not marked, because they had changed or were being synced
 * @returns false when another pass is needed, also because a link or record changed before its values were noted
 */
export async function storeForNextRun(
  scope: ReconcileScope,
  findings: RunFindings,
  { isAllMarked, signal }: { isAllMarked: boolean; signal: AbortSignal },
): Promise<boolean> {
  const { drifts, runs, digest, rulesAgree } = scope;
  for (const name of ['values', 'members'] as const) {
    const position = findings.cursors[name];
    if (position !== undefined) await runs.moveCursor(name, position);
  }
  for (const each of findings.confirmed) await drifts.confirmRemovals(each);
  await runs.noteGroupsSeen(findings.groupsSeen);
  const isAllNoted = await drifts.noteApplied(findings.asApplied);
  // After a repair of derived data, resources that changed while they were read are compared again too.
  const isWhole = isAllMarked && isAllNoted && (!findings.isRepaired || findings.moved === 0);
  const { definitions } = findings;
  if (definitions) await settleDefinitions(scope, definitions, isWhole && definitions.isWhole, signal);
  // Users count as mapped only after a pass that left no resource out.
  if (!findings.mapped || !isWhole) return isWhole;
  if (await rulesAgree()) return runs.noteMapped(digest, findings.mappedBy);
  // A process that started meanwhile may have applied the marks by other rules, so a later run maps everything anew.
  await runs.noteAnew();
  return true;
}

const NO_IDS: ReadonlyMap<string, string> = new Map();

/**
 * Stores the definitions of the comparison. A definition that was missing is read again, because the writes of the run have made it
 * anew. If this read fails, or the definition now has another type, the values count as lost, and the next run compares them again.
 * @param isWritten whether all lost values are written, or ordered by marks
 */
async function settleDefinitions(
  { outbox, target }: Pick<ReconcileScope, 'outbox' | 'target'>,
  compared: ComparedDefinitions,
  isWritten: boolean,
  signal: AbortSignal,
): Promise<void> {
  const wasMissing = [...compared.deleted].some((name) => !compared.ids.has(name));
  if (!isWritten || !wasMissing) return outbox.definitions.settle(compared, isWritten);
  const present = await target.catalogue.faults(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (isStoreFailure(error)) throw error;
    return undefined;
  });
  const madeAgain = [...compared.deleted].flatMap((name) => {
    const id = compared.ids.get(name) ?? present?.ids.get(name);
    return id === undefined ? [] : [[name, id] as const];
  });
  const ids = new Map([...compared.ids, ...madeAgain]);
  const ofOtherType = new Set(
    [...compared.deleted].filter((name) => compared.ofOtherType.has(name) || present?.conflicts.has(name)),
  );
  const writable = new Set([...compared.deleted].filter((name) => !ofOtherType.has(name)));
  await outbox.definitions.settle({ ids, deleted: writable }, present !== undefined);
  // No value can be written to a definition of another type.
  return outbox.definitions.settle({ ids: NO_IDS, deleted: ofOtherType }, false);
}
