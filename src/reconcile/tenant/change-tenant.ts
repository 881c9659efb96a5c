// Handles a target whose address may lead to another tenant. All writes are held until an operator accepts the tenant; then
// all links are removed, and every resource is created or adopted as at a new target.
import type { Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../scope.ts';
import { anotherTenantText } from './tenant.ts';

/** Subject of the audit entry of an acceptance. */
export const TENANT_ACCEPTED = 'another tenant is accepted';
/** Number of links that are removed at once. */
const PORTION = 1000;

/** Holds all writes to the target. @returns the question for the operator */
export async function askAboutTenant(
  { connection, target, outbox }: ReconcileScope,
  tenantSuspicion: string,
): Promise<string> {
  await outbox.guardStore.beginTenantHold(`${connection}: ${tenantSuspicion}`);
  return anotherTenantText(target.name, tenantSuspicion);
}

/**
 * Stores that the tenant is recognised, and ends a hold of this connection because of an unrecognised tenant; a hold of an operator
 * stays, and so does that of another connection.
 */
export async function noteRecognised({ outbox }: ReconcileScope): Promise<void> {
  await outbox.noteAddress();
  await outbox.guardStore.endTenantHold();
}

/**
 * Removes all links to the former tenant while the target is on hold, so that no running sync saves a link to it. If the process
 * ends in between, the hold stays, and the next run asks again while a link is left.
 */
export async function forgetTenant({ coverage, links, outbox, runs, target }: ReconcileScope): Promise<void> {
  // If this process ends before it has marked everybody, another process starts a run because of this note.
  await runs.noteAnew();
  await outbox.forgetAddresses();
  await outbox.definitions.forget();
  let refs: Ref[] = [];
  for await (const { ref } of links.all(target.name)) {
    refs.push(ref);
    if (refs.length < PORTION) continue;
    await coverage.forgetLinks(refs);
    refs = [];
  }
  await coverage.forgetLinks(refs);
}
