// Lists the changes that the guard holds, and records the decision of an operator about them.
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import type { Decision, Destruction } from '../directory/guard/guard-store.ts';
import type { DestructiveKind } from '../guard/judge.ts';

export interface HeldChange {
  kind: DestructiveKind;
  ref: Ref;
  /** Id of the removed member, or name of the cleared attribute. */
  subject?: string;
  /** userName or displayName, as last applied. */
  name: string;
  /** userName of the member, or the attribute. */
  member?: string;
  place?: number;
  /** Reason why an approval alone does not allow the change. */
  reason?: string;
}

export interface Approval {
  /** `<connection>.<target>.<serial>-<last place>`. */
  id: string;
  connection: string;
  target: string;
  state: 'held' | 'approved' | 'rejected' | 'withdrawn';
  /** ISO 8601, while it is held. */
  openedAt?: string;
  expiresAt?: string;
  /** ISO 8601, once it is decided. */
  at?: string;
  by?: string;
  kinds: Record<DestructiveKind, number>;
  items: HeldChange[];
}

/** `expired`: the held changes are judged again. */
export type DecisionOutcome =
  { kind: 'decided'; id: string; items: number } | { kind: 'expired' } | { kind: 'unknown' };

const STATES = { approve: 'approved', reject: 'rejected', withdraw: 'withdrawn' } as const;

/** Held changes that wait for a decision, and recent decisions. */
export async function listApprovals(states: readonly DesiredState[]): Promise<Approval[]> {
  const views: Approval[] = [];
  for (const state of states) {
    for (const [target, { guardStore }] of state.outboxes) {
      const names = { connection: state.connection, target };
      const open = await guardStore.open();
      if (open) {
        const { id, items, openedAt, expiresAt } = open;
        const dates = { openedAt: iso(openedAt), expiresAt: iso(expiresAt) };
        views.push(await view(state, { ...names, ...dates, id, state: 'held' }, items));
      }
      for (const { id, action, items, at, by, kinds } of await guardStore.decisions()) {
        const approval = await view(state, { ...names, id, state: STATES[action], at: iso(at), by }, items);
        views.push({ ...approval, kinds });
      }
    }
  }
  return views;
}

/** Finds an approval by its whole id. Without the part behind the last hyphen it covers all currently held changes. */
export async function findApproval(
  states: readonly DesiredState[],
  id: string,
): Promise<Approval | undefined> {
  const known = await listApprovals(states);
  const serialOf = (text: string): string => text.replace(/-\d+$/, '');
  const found =
    known.find((approval) => approval.id === id && approval.state === 'held') ??
    known.find((approval) => serialOf(approval.id) === serialOf(id) && approval.state === 'held') ??
    known.find((approval) => approval.id === id) ??
    known.find((approval) => serialOf(approval.id) === serialOf(id));
  if (!found || found.id === id || found.state !== 'held') return found && { ...found, id };
  // Changes that were held after the list was shown are not part of the decision.
  const last = /-(\d+)$/.exec(id)?.[1];
  if (last === undefined) return found;
  const items = found.items.filter(({ place = 0 }) => place <= Number(last));
  return { ...found, id, items, kinds: kindsOf(items) };
}

/** Stores a decision about exactly the listed changes, or with `refs` about some of them. `by`: operator for the audit log. */
export async function decideApproval(
  states: readonly DesiredState[],
  id: string,
  { action, refs, ...actor }: Actor & { action: Decision['action']; refs?: readonly string[] | undefined },
): Promise<DecisionOutcome> {
  const approval = await findApproval(states, id);
  const state = states.find(({ connection }) => connection === approval?.connection);
  const outbox = approval && state?.outboxes.get(approval.target);
  if (!approval || !state || !outbox) return { kind: 'unknown' };
  // Ids are unique within a target of a connection; outside they carry both names.
  const within = approval.id.slice(approval.connection.length + 1);
  const items = approval.items.filter(({ ref }) => refs?.includes(ref) ?? true);
  const note = [refs && `only ${refs.join(', ')}`, actor.note].filter(Boolean).join('; ');
  // The script stores decision and audit entry together.
  const act = state.acts.toArgs([
    {
      ...{ act: action, ...actor, target: approval.target, subject: approval.id, count: items.length },
      ...(note === '' ? {} : { note }),
    },
  ]);
  const decided = await outbox.guardStore.decide(action, within, actor.by, { refs, act });
  if (decided.kind !== 'decided') return decided;
  return { ...decided, id: approval.id };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function kindsOf(items: readonly { kind: DestructiveKind }[]): Approval['kinds'] {
  const kinds: Approval['kinds'] = { deactivate: 0, delete: 0, removeMembers: 0, clearAttributes: 0 };
  for (const { kind } of items) kinds[kind] += 1;
  return kinds;
}

async function view(
  { connection, links }: DesiredState,
  approval: Omit<Approval, 'kinds' | 'items'>,
  items: Destruction[],
): Promise<Approval> {
  const refs = new Set<Ref>();
  for (const { kind, ref, subject } of items) {
    refs.add(ref);
    if (kind === 'removeMembers' && subject !== undefined) refs.add(`User:${subject}`);
  }
  const { names, reasons } = await namesOf(links, approval.target, [...refs]);
  const named = items.map((item) => {
    const member = item.kind === 'removeMembers' ? names.get(`User:${item.subject ?? ''}`) : item.subject;
    const reason =
      approval.state === 'held' && item.kind === 'deactivate' ? reasons.get(item.ref) : undefined;
    return {
      ...item,
      name: names.get(item.ref) ?? item.ref,
      ...(member === undefined ? {} : { member }),
      ...(reason === undefined ? {} : { reason }),
    };
  });
  return { ...approval, id: `${connection}.${approval.id}`, kinds: kindsOf(items), items: named };
}

const PORTION = 1000;

/**
 * Returns the last applied userName of users and the displayName of groups, or the id, with reasons why an approval alone is
 * not enough.
 */
async function namesOf(
  links: DesiredState['links'],
  target: string,
  refs: readonly Ref[],
): Promise<{ names: Map<Ref, string>; reasons: Map<Ref, string> }> {
  const reasons = new Map<Ref, string>();
  const names = new Map<Ref, string>();
  for (let start = 0; start < refs.length; start += PORTION) {
    const portion = refs.slice(start, start + PORTION);
    for (const [index, link] of (await links.getMany(target, portion)).entries()) {
      const ref = portion[index];
      const name = link.core?.userName ?? link.core?.displayName;
      if (ref === undefined) continue;
      names.set(ref, typeof name === 'string' ? name : parseRef(ref).id);
      if (link.condition?.reason === 'LastAdministrator') reasons.set(ref, link.condition.message);
    }
  }
  return { names, reasons };
}
