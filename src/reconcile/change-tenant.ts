// Handles a target whose address may lead to another tenant. All writes are held until an operator accepts the tenant; then
// all links are removed, and every resource is created or adopted as at a new target.
import type { Ref } from '../directory/records.ts';
import type { ReconcileScope } from './scope.ts';

/** Holder name of a hold because of an unrecognised tenant; a hold of an operator is not changed. */
const HOLDER = 'reconcile';
/** Number of links that are removed at once. */
const PORTION = 1000;

/** Holds all writes to the target. @returns the question for the operator */
export async function askAboutTenant(
  { connection, target, outbox }: ReconcileScope,
  tenantSuspicion: string,
): Promise<string> {
  const { name } = target;
  const question =
    `${name} may be another tenant: ${tenantSuspicion}. Nothing is written there. ` +
    `If it is meant: scim-bridge reconcile --target ${name} --accept-tenant. If not: correct targets.${name}.url, then scim-bridge release --target ${name}`;
  await outbox.guardStore.hold(HOLDER, `${connection}: ${tenantSuspicion}`);
  return question;
}

/** Stores that the tenant is recognised, and ends a hold because of an unrecognised tenant. */
export async function noteRecognised({ outbox }: ReconcileScope): Promise<void> {
  await outbox.noteAddress();
  if ((await outbox.guardStore.onHold())?.by === HOLDER) await outbox.guardStore.release();
}

/** Removes all links to the former tenant and ends the hold. @returns the number of removed links */
export async function acceptTenant(scope: ReconcileScope, request: string): Promise<number> {
  const { coverage, links, outbox, target } = scope;
  // The hold ends leases, so a running sync cannot save a link to the former tenant.
  await outbox.guardStore.hold(HOLDER, 'the tenant is exchanged');
  let forgotten = 0;
  let refs: Ref[] = [];
  const forget = async (): Promise<void> => {
    forgotten += await coverage.forgetLinks(refs, request);
    refs = [];
  };
  for await (const { ref } of links.all(target.name)) {
    refs.push(ref);
    if (refs.length === PORTION) await forget();
  }
  await forget();
  await outbox.changeAddress();
  await outbox.guardStore.release();
  return forgotten;
}
