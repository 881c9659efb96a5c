// Implements steps that the handover and the move back share: checks before each move, the person's folder, and log entries.
import { wasOnHold } from '../../directory/guard/operator-hold.ts';
import { itemKey, type HandedItem, type HandoverHead } from '../../directory/outbox/handover-store.ts';
import { NO_GENERATION, type LogEntry } from '../../directory/logs/provisioning-log.ts';
import type { Ref } from '../../directory/records.ts';
import type { CallOptions } from '../../platform/client.ts';
import { PlatformResponse } from '../../platform/errors.ts';
import type { WorkspaceItem } from '../../platform/workspace.ts';
import type { Logger } from '../../support/logger.ts';
import { isoTime } from '../../support/sources.ts';
import { failureSinceWords } from '../breaker-words.ts';
import { HandoverStopped } from './handover-place.ts';
import { itemText } from './render-handover.ts';
import type { ReconcileScope } from '../scope.ts';

export interface HandoverOptions {
  signal: AbortSignal;
  logger: Logger;
  /** Request id of the log entries. */
  request: string;
  /** Throws HandoverStopped during a hold. The calls ask it after all waits, as they do in a sync. */
  beforeWrite: () => Promise<void>;
}

/** Returns the options of the calls of a handover. No lease ends with a hold here, so each write reads the hold itself. */
export const handoverOptions = (
  { outbox, target }: ReconcileScope,
  options: Omit<HandoverOptions, 'beforeWrite'>,
): HandoverOptions => ({
  ...options,
  beforeWrite: async () => {
    const hold = await outbox.guardStore.onHold();
    if (hold) throw new HandoverStopped(wasOnHold(target.name, hold));
  },
});

/**
 * Returns the reason why nothing may be written now, as a sentence; undefined: writing is allowed. @throws the reason of an
 * abort
 */
export async function whyStopped(
  { outbox, target }: ReconcileScope,
  signal: AbortSignal,
): Promise<string | undefined> {
  signal.throwIfAborted();
  const [hold, breaker] = await Promise.all([outbox.guardStore.onHold(), target.breaker.read()]);
  if (hold) return wasOnHold(target.name, hold);
  if (!breaker.open) return undefined;
  // `since` is set while the breaker is open. Status 0: no answer.
  const { since = 0, status = 0 } = breaker;
  return `the target ${failureSinceWords({ ...breaker, status }, isoTime(since))}, so only probes are sent`;
}

/** Returns whether the platform refuses the move of one item, so that other items can still be moved. */
export const isRefusalOfItem = (error: unknown): boolean =>
  error instanceof PlatformResponse && [400, 403, 404].includes(error.status);

/** Returns the items in a folder, by key (`TYPE:id`); undefined: the folder does not exist. */
export async function contentOfPersonFolder(
  { target }: ReconcileScope,
  { deployment, folder }: { deployment: string; folder: string },
  options: CallOptions,
): Promise<Map<string, WorkspaceItem> | undefined> {
  const found = new Map<string, WorkspaceItem>();
  try {
    for await (const item of target.client.workspace.feed(deployment, { folderId: folder }, options))
      found.set(itemKey(item), item);
    return found;
  } catch (error) {
    if (error instanceof PlatformResponse && error.status === 404) return undefined;
    throw error;
  }
}

/** Returns the log entry of a moved item, or of one that stays where it is. */
export function handoverEntry(
  { clock }: ReconcileScope,
  ref: Ref,
  { name, platformId }: HandoverHead,
  item: HandedItem,
  move: Pick<LogEntry, 'action' | 'status'> & {
    request: string;
    from: string | null;
    to: string | null;
    why: string | undefined;
  },
): LogEntry {
  const { action, status, request, from, to, why } = move;
  // A handover has no mark, so the time is now, and generation, priority and attempt have fixed values.
  return {
    ref,
    name,
    platformId,
    action,
    status,
    request,
    generation: NO_GENERATION,
    accepted: clock.now(),
    priority: 'reconcile',
    attempt: 1,
    changes: [['folderId', from, to]],
    reason: action === 'handOver' ? 'Handover' : 'HandoverReturned',
    message: why === undefined ? itemText(item) : `${itemText(item)}: ${why}`,
  };
}
