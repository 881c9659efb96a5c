// Judges whether a resource waits for the decision of an operator. Pure.
import type { Condition } from '../directory/outbox/links.ts';

/** Reasons of conditions that an operator decides. */
const AWAITING: ReadonlySet<string> = new Set(['Held', 'LastAdministrator', 'Rejected']);

/** Returns whether the guard holds a change of the resource, or a person rejected one; with a dead letter `besides` says so. */
export const isAwaitingDecision = (condition: Condition | undefined): condition is Condition =>
  condition !== undefined && (AWAITING.has(condition.reason) || condition.besides !== undefined);
