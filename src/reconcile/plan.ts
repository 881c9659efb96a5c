// Defines a plan: the document of all differences, which can be saved, displayed and applied. Pure.
import { createHash } from 'node:crypto';
import type { StandingException } from '../directory/outbox/exception-list.ts';
import type { CoverageOfKinds, DriftCount } from '../directory/outbox/runs.ts';
import { canonicalJson } from '../support/canonical-json.ts';
import { ACTIONS, isChange, isDrift, isNotice, type Action, type PlanEntry } from './entry.ts';
import { peopleDue, type HandoverSection } from './handover/plan-handover.ts';
import type { ListProof } from './scan/list-proof.ts';
import type { UnreadResource } from './scope.ts';

/** Number of platform calls of the plan, and the size of a full comparison. */
export interface Cost {
  calls: number;
  /** Users whose value list was read, of all users that need it. */
  values: { read: number; of: number };
  /** Groups whose members were read, of all linked groups. */
  members: { read: number; of: number };
  durationMs: number;
}

export interface Plan {
  format: 'scim-bridge plan';
  formatVersion: 1;
  /** Marks that a run sets for this plan have the request id `plan:<id>`. */
  id: string;
  createdAt: string;
  connection: string;
  target: string;
  /** Digest of the mapping rules that the plan was made with. */
  mapping: string;
  /** Proofs of the lists. Destructive entries are applied only after complete lists. */
  proof: { users: ListProof; groups: ListProof };
  /** Number of resources that could not be read. */
  unknown: number;
  /** The first hundred resources that could not be read; absent: there is none. */
  unread?: UnreadResource[];
  cost: Cost;
  /** State counts of the desired resources (ADR 0021). */
  coverage: CoverageOfKinds;
  /** Resources that differ until a person acts (docs/exceptions.md); the items are the oldest thousand. */
  exceptions: { total: number; items: StandingException[] };
  /** Why the target may be another tenant; the entries are the changes after its acceptance. Absent: the tenant is recognised. */
  anotherTenant?: string;
  /** Times of the last restore and of its backup, ISO 8601; absent: no restore explains differences (`ifOpen` in restored.ts). */
  restored?: { at: string; backup: string | null };
  /** Handovers that are due, come later or are taken back; absent: the setting is off, or there are none. */
  handover?: HandoverSection;
  counts: Partial<Record<Action, number>>;
  entries: PlanEntry[];
}

/** Position of the hash (SHA-256 as hex digits) in the last piece that `savedPieces` yields, and its length. */
const HASH_AT = '],"hash":"'.length;
const HASH_LENGTH = 64;

/** A plan file (`plan --out`): the plans of one or more connections and targets. */
interface SavedPlans {
  format: 'scim-bridge plans';
  formatVersion: 1;
  plans: Plan[];
  /** SHA-256 over the canonical JSON of `plans`. */
  hash: string;
}

/** Returns the number of entries of each action. */
export function countsOf(entries: PlanEntry[]): Plan['counts'] {
  const counts: Plan['counts'] = {};
  for (const { action } of entries) counts[action] = (counts[action] ?? 0) + 1;
  return counts;
}

/** Counts the differences caused at the platform, by action and cause, without conflicts and unmanaged accounts or groups. */
export function driftCounts({ entries }: Pick<Plan, 'entries'>): DriftCount[] {
  const counts = new Map<string, DriftCount>();
  for (const entry of entries.filter((each) => isDrift(each) && !isNotice(each))) {
    const { action } = entry;
    const { cause } = entry.attribution;
    const found = counts.get(`${action} ${cause}`) ?? { action, cause, count: 0 };
    counts.set(`${action} ${cause}`, { ...found, count: found.count + 1 });
  }
  return [...counts.values()];
}

const RANK = new Map(ACTIONS.map((action, index) => [action, index]));

/** Sorts entries for display: destructive actions first, then by name. */
export function inReadingOrder(entries: PlanEntry[]): PlanEntry[] {
  const keyOf = ({ name, attribute, member }: PlanEntry): string =>
    `${name} ${attribute ?? ''} ${member?.name ?? ''} ${member?.platformId ?? ''}`;
  const keyed = entries.map((entry) => ({
    entry,
    rank: RANK.get(entry.action) ?? ACTIONS.length,
    key: keyOf(entry),
  }));
  keyed.sort((left, right) => {
    if (left.rank !== right.rank) return left.rank - right.rank;
    if (left.key === right.key) return 0;
    return left.key < right.key ? -1 : 1;
  });
  return keyed.map(({ entry }) => entry);
}

/** Returns whether the comparison has read the platform whole: both lists are complete, and no resource is unread. */
export const isReadWhole = ({ proof, unknown }: Pick<Plan, 'proof' | 'unknown'>): boolean =>
  proof.users.complete && proof.groups.complete && unknown === 0;

/** Returns the number of entries that applying the plan would execute. */
export const changesIn = ({ entries }: Plan): number => entries.filter(isChange).length;

/** Returns the number of entries and handovers that applying the plan would execute. */
export const writesIn = (plan: Plan): number => changesIn(plan) + peopleDue(plan.handover).length;

type PlanOutcome = 'changes' | 'unproven' | 'no changes';

/**
 * Summarises comparisons. `changes`: something differs, a handover is due, or a desired resource is missing. `unproven`: no
 * difference was found, but a read was incomplete, so there may be one.
 */
export function outcomeOf(plans: readonly Plan[]): PlanOutcome {
  const isMissing = ({ coverage: { users, groups } }: Plan): boolean => users.missing + groups.missing > 0;
  if (plans.some((plan) => writesIn(plan) > 0 || isMissing(plan))) return 'changes';
  const isProven = ({ proof: { users, groups }, unknown }: Plan): boolean =>
    users.complete && groups.complete && unknown === 0;
  return plans.every(isProven) ? 'no changes' : 'unproven';
}

/** Returns the plan reduced to the entries that are caused at the platform, and without the handover. */
export function driftOnly({ handover: _, ...plan }: Plan): Plan {
  const entries = plan.entries.filter(isDrift);
  return { ...plan, entries, counts: countsOf(entries) };
}

/**
 * Yields a SavedPlans document as JSON text, one entry at a time. So a large plan is never one text in memory, and the
 * caller can let other work run between two pieces.
 */
export function* savedPieces(plans: Plan[]): Generator<string> {
  const hash = createHash('sha256').update('[');
  yield '{"format":"scim-bridge plans","formatVersion":1,"plans":[';
  for (const [index, { entries, ...rest }] of plans.entries()) {
    const comma = index === 0 ? '' : ',';
    // An empty list marks the place of the entries among the sorted keys.
    const [before = '', after = ''] = canonicalJson({ ...rest, entries: [] }).split('"entries":[]');
    hash.update(`${comma}${before}"entries":[`);
    yield `${comma}${JSON.stringify(rest).slice(0, -1)},"entries":[`;
    for (const [at, entry] of entries.entries()) {
      const separator = at === 0 ? '' : ',';
      hash.update(`${separator}${canonicalJson(entry)}`);
      yield `${separator}${JSON.stringify(entry)}`;
    }
    hash.update(`]${after}`);
    yield ']}';
  }
  yield `],"hash":"${hash.update(']').digest('hex')}"}`;
}

/** Returns the hash that a saved document of these plans has. */
function hashOf(plans: Plan[]): string {
  let last = '';
  for (const piece of savedPieces(plans)) last = piece;
  return last.slice(HASH_AT, HASH_AT + HASH_LENGTH);
}

/** Parses a saved plan. @throws Error that describes the fault of the file */
export function parseSaved(text: string): Plan[] {
  let saved: Partial<SavedPlans> | undefined;
  try {
    saved = JSON.parse(text) as Partial<SavedPlans>;
  } catch {
    throw new Error('The file is no JSON: make a new one with scim-bridge plan --out FILE.');
  }
  if (saved?.format !== 'scim-bridge plans' || saved.formatVersion !== 1 || !Array.isArray(saved.plans))
    throw new Error('The file is no plan that this version can read: scim-bridge plan --out FILE makes one.');
  if (saved.hash !== hashOf(saved.plans))
    throw new Error(
      'The file was changed after it was made: make a new one with scim-bridge plan --out FILE.',
    );
  return saved.plans;
}
