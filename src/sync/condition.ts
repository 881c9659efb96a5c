// Why a resource is not as desired, with the moment since which it is so.
import type { Condition } from '../directory/links.ts';
import type { SyncContext } from './context.ts';

export function condition(context: SyncContext, reason: string, message: string, status?: number): Condition {
  const before = context.link.condition;
  const since = before?.reason === reason ? before.since : context.clock.now();
  return { reason, message, since, ...(status === undefined ? {} : { status }) };
}
