// Reads for a run what waits for a person: changes that the guard holds (added to the plan), rejected changes, and dead letters
// that may succeed now: under other settings, because the tenant has a user list again, or because another connection gave up an
// account.
import { deletionText } from '../../directory/outbox/condition-text.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { isBySettingsOfThen } from '../../directory/outbox/link-condition.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { changeText, type Destruction } from '../../directory/guard/held-changes.ts';
import { removedUser, storedNameOf, unmanagedId } from '../../directory/member-names.ts';
import { ACTION_OF, NO_BASIS, type Action, type PlanEntry } from '../entry.ts';
import { givenUpAmong } from '../../sync/names/taken-by-connection.ts';
import { isAboutUserList } from '../../sync/user/user-list.ts';
import { asking } from '../compare/platform-reads.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { observedLinks } from './observed-links.ts';

/**
 * Returns entries for held changes that the comparison did not find.
 * @param compared entries of the comparison
 * @param done changes that the platform has already
 */
export async function heldEntries(
  scope: ReconcileScope,
  compared: PlanEntry[],
  done: readonly Destruction[],
): Promise<PlanEntry[]> {
  const { connection, outbox, drifts } = scope;
  const approval = await outbox.guardStore.open();
  if (!approval) return [];
  const named = new Set(
    compared.map(({ action, ref, attribute, member }) =>
      changeKey(action, ref, attribute ?? (member && storedNameOf(member))),
    ),
  );
  const isDone = new Set(done.map(changeText));
  const items: Destruction[] = [];
  for await (const page of outbox.guardStore.pages(approval))
    items.push(
      ...page.filter(
        (item) =>
          !isDone.has(changeText(item)) &&
          !named.has(changeKey(ACTION_OF[item.kind], item.ref, item.subject)),
      ),
    );
  const refs = [...new Set(items.flatMap((item) => [item.ref, removedUser(item) ?? item.ref]))];
  const known = await observedLinks(drifts, refs);
  const reason = `held by the guard: scim-bridge approvals show ${connection}.${approval.id}`;
  return items.map((item) => {
    const entry = toEntry(item, known, reason);
    if (item.kind !== 'deactivate') return entry;
    const { condition } = known.get(item.ref) ?? {};
    return { ...entry, reason: `${entry.reason}${deletionText(condition, outbox.deletesLeavers)}` };
  });
}

/** Returns the resources of which a person rejected a change. */
export async function rejectedRefs({ outbox }: ReconcileScope): Promise<Ref[]> {
  const { exceptions } = await outbox.backlog();
  const found = await outbox.exceptions({ limit: exceptions.Rejected, reasons: ['Rejected'] });
  return found.flatMap(({ ref }) => ref ?? []);
}

/** Returns the dead letters that were refused under earlier settings, so the present settings may lead to another answer. */
export async function formerRefusals({
  outbox,
  drifts,
}: Pick<ReconcileScope, 'outbox' | 'drifts'>): Promise<Ref[]> {
  return judgedUnderFormerSettings(
    { outbox, drifts },
    (await outbox.blocked()).map(({ ref }) => ref),
  );
}

/** Returns the resources whose condition arose under other settings than the present ones. */
export async function judgedUnderFormerSettings(
  { outbox, drifts }: Pick<ReconcileScope, 'outbox' | 'drifts'>,
  refs: Ref[],
): Promise<Ref[]> {
  return [...(await observedLinks(drifts, refs))].flatMap(([ref, { condition }]) =>
    condition && isBySettingsOfThen(condition, outbox.settings) ? [ref] : [],
  );
}

/**
 * Returns the users whose values were not written because the tenant had no user list, if it has one now: a proxy may have answered
 * in place of the platform for a long time. Asks only if there are such users.
 * @param blocked all dead letters of the target
 */
export async function healedByUserList(scan: ScanResult, blocked: readonly Ref[]): Promise<Ref[]> {
  const { links, target } = scan.scope;
  const refs = blocked.filter((ref) => ref.startsWith('User:'));
  const found = await links.getMany(target.name, refs);
  const waiting = refs.filter((_, index) => isAboutUserList(found[index]?.condition));
  if (waiting.length === 0) return [];
  const answer = await asking(scan, (signal) => target.client.accounts.firstPage({ signal }));
  return Array.isArray(answer) ? waiting : [];
}

/**
 * Returns the dead letters about an account or group of another connection that no other connection is linked to any more.
 * @param blocked all dead letters of the target
 */
export async function givenUpElsewhere(
  { links, outbox, target }: ReconcileScope,
  blocked: readonly Ref[],
): Promise<Ref[]> {
  const found = await links.getMany(target.name, [...blocked]);
  const conditions = found.map(({ condition }) => condition);
  return givenUpAmong({ links, outbox }, blocked, conditions);
}

/** Returns the key that an entry and a held change have in common if they are the same change. */
const changeKey = (action: Action, ref: Ref | null, subject: string | null | undefined): string =>
  `${action} ${ref ?? ''} ${subject ?? ''}`;

/** Returns the entry of a held change. @param known links of its resource and member */
function toEntry(item: Destruction, known: ReadonlyMap<Ref, Link>, reason: string): PlanEntry {
  const { kind, ref, subject } = item;
  const link = known.get(ref) ?? {};
  const why =
    link.condition?.reason === 'LastAdministrator' ? `${reason}; ${link.condition.message}` : reason;
  const entry: PlanEntry = {
    action: ACTION_OF[kind],
    kind: parseRef(ref).kind,
    ref,
    platformId: link.id ?? null,
    name: shownName(link),
    before: kind === 'deactivate' ? { active: true } : null,
    after: kind === 'deactivate' ? { active: false } : null,
    effect: 'report',
    reason: why,
    attribution: { cause: 'source changed' },
    basis: NO_BASIS,
  };
  if (kind === 'clearAttributes' && subject !== undefined) return { ...entry, attribute: subject };
  if (kind !== 'removeMembers') return entry;
  const member = removedUser(item);
  const account = member && known.get(member);
  const platformId = account?.id ?? (member ? null : subject === undefined ? null : unmanagedId(subject));
  return { ...entry, member: { ref: member ?? null, platformId, name: account ? shownName(account) : '' } };
}

/** Returns the name at the platform; '' without one. */
const shownName = ({ core }: Link): string => String(core?.userName ?? core?.displayName ?? '');
