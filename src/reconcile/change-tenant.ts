// What becomes of a target that may be another tenant now: nothing is written there until an operator has said so. Then its
// links are forgotten, and everybody arrives there as at a target that is new.
import type { Ref } from '../directory/records.ts';
import type { Estate } from './estate.ts';

/** Who holds a target that is not recognised; a hold of an operator stays what it is. */
const HOLDER = 'reconcile';
const PORTION = 1000;

/** Stops all writes. @returns what an operator has to decide */
export async function askAboutTenant({ connection, target, outbox }: Estate, doubt: string): Promise<string> {
  const { name } = target;
  const question =
    `${name} may be another tenant: ${doubt}. Nothing is written there. ` +
    `If it is meant: scim-bridge reconcile --target ${name} --accept-tenant. If not: correct targets.${name}.url, then scim-bridge release --target ${name}`;
  await outbox.guardStore.hold(HOLDER, `${connection}: ${doubt}`);
  return question;
}

/** The address is right. A hold that was put because of another one ends. */
export async function noteRecognised({ outbox }: Estate): Promise<void> {
  await outbox.noteAddress();
  if ((await outbox.guardStore.onHold())?.by === HOLDER) await outbox.guardStore.release();
}

/** Forgets the links to the former tenant and lets writes go on. @returns how many links there were */
export async function acceptTenant(estate: Estate, request: string): Promise<number> {
  const { coverage, links, outbox, target } = estate;
  // Whoever is at work loses the lease, so no link to the former tenant is saved again.
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
