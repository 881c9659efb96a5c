// Handles a target that may be another tenant now: nothing is written there until an operator agrees. Then its links are
// forgotten, and every resource is created or adopted there as at a new target.
import type { Ref } from '../directory/records.ts';
import type { ReconcileScope } from './scope.ts';

/** The name under which an unrecognised target is held; a hold of an operator stays. */
const HOLDER = 'reconcile';
const PORTION = 1000;

/** Stops all writes. @returns what an operator has to decide */
export async function askAboutTenant(
  { connection, target, outbox }: ReconcileScope,
  doubt: string,
): Promise<string> {
  const { name } = target;
  const question =
    `${name} may be another tenant: ${doubt}. Nothing is written there. ` +
    `If it is meant: scim-bridge reconcile --target ${name} --accept-tenant. If not: correct targets.${name}.url, then scim-bridge release --target ${name}`;
  await outbox.guardStore.hold(HOLDER, `${connection}: ${doubt}`);
  return question;
}

/** The address is right. A hold that was put because of another one ends. */
export async function noteRecognised({ outbox }: ReconcileScope): Promise<void> {
  await outbox.noteAddress();
  if ((await outbox.guardStore.onHold())?.by === HOLDER) await outbox.guardStore.release();
}

/** Forgets the links to the former tenant and lets writes go on. @returns how many links there were */
export async function acceptTenant(estate: ReconcileScope, request: string): Promise<number> {
  const { coverage, links, outbox, target } = estate;
  // A sync under way loses its lease, so no link to the former tenant is saved again.
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
