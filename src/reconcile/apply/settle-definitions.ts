// Stores at the end of a run the attribute definitions under which all values are written or ordered.
import type { ComparedDefinitions } from '../../directory/outbox/known-definitions.ts';
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Stores what the comparison found. A definition that was missing is read again, because the writes of the run have made it anew.
 * If this read fails, the values count as lost, and the next run compares all of them again.
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
  return outbox.definitions.settle({ ...compared, ids }, present !== undefined);
}
