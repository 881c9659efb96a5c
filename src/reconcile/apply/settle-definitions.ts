// Stores at the end of a run the attribute definitions under which all values are written or ordered.
import type { ComparedDefinitions } from '../../directory/outbox/known-definitions.ts';
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import type { ReconcileScope } from '../scope.ts';

const NO_IDS: ReadonlyMap<string, string> = new Map();

/**
 * Stores the definitions of the comparison. A definition that was missing is read again, because the writes of the run have made it
 * anew. If this read fails, or the definition now has another type, the values count as lost, and the next run compares them again.
 * @param isWritten whether all lost values are written, or ordered by marks
 */
export async function settleDefinitions(
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
  const made = [...compared.deleted].flatMap((name) => {
    const id = compared.ids.get(name) ?? present?.ids.get(name);
    return id === undefined ? [] : [[name, id] as const];
  });
  const ids = new Map([...compared.ids, ...made]);
  const ofOtherType = new Set(
    [...compared.deleted].filter((name) => compared.ofOtherType.has(name) || present?.conflicts.has(name)),
  );
  const deleted = new Set([...compared.deleted].filter((name) => !ofOtherType.has(name)));
  await outbox.definitions.settle({ ids, deleted }, present !== undefined);
  return outbox.definitions.settle({ ids: NO_IDS, deleted: ofOtherType }, false);
}
