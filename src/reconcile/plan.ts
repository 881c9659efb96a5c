// A plan: everything that differs, in one document that can be kept, read, and applied exactly. Pure.
import { createHash } from 'node:crypto';
import type { CoverageOfKinds, DriftCount } from '../directory/outbox/runs.ts';
import { canonicalJson } from '../support/canonical-json.ts';
import { ACTIONS, isChange, isDrift, type Action, type PlanEntry } from './entry.ts';
import type { ListProof } from './list-proof.ts';

/** The cost of a plan, and the cost of reading everything. */
export interface Cost {
  /** Calls to the platform. */
  calls: number;
  /** Users whose attribute values were read one by one, and for how many that would be needed. */
  values: { read: number; of: number };
  /** Groups whose members were read, of all that are linked. */
  members: { read: number; of: number };
  durationMs: number;
}

export interface Plan {
  format: 'scim-bridge plan';
  formatVersion: 1;
  /** Marks that this plan leaves carry it as `plan:<id>`. */
  id: string;
  createdAt: string;
  connection: string;
  target: string;
  /** Digest of the mapping rules that the plan was made with. */
  mapping: string;
  /** Whether the lists were read whole. Without that nothing destructive is done about a difference. */
  proof: { users: ListProof; groups: ListProof };
  /** Resources that could not be read: nothing is known of them. */
  unknown: number;
  cost: Cost;
  /** How the resources of ours stand (ADR 0021). */
  coverage: CoverageOfKinds;
  counts: Partial<Record<Action, number>>;
  entries: PlanEntry[];
}

const HASH_AT = '],"hash":"'.length;
const HASH_LENGTH = 64;

export interface SavedPlans {
  format: 'scim-bridge plans';
  formatVersion: 1;
  plans: Plan[];
  /** SHA-256 over the canonical JSON of `plans`. */
  hash: string;
}

export function countsOf(entries: PlanEntry[]): Plan['counts'] {
  const counts: Plan['counts'] = {};
  for (const { action } of entries) counts[action] = (counts[action] ?? 0) + 1;
  return counts;
}

/** How much of a plan neither pushes nor settings explain, by what would repair it and by cause. */
export function driftCounts({ entries }: Pick<Plan, 'entries'>): DriftCount[] {
  const counts = new Map<string, DriftCount>();
  for (const entry of entries.filter(isDrift)) {
    const { action } = entry;
    const { cause } = entry.attribution;
    const found = counts.get(`${action} ${cause}`) ?? { action, cause, count: 0 };
    counts.set(`${action} ${cause}`, { ...found, count: found.count + 1 });
  }
  return [...counts.values()];
}

const RANK = new Map(ACTIONS.map((action, index) => [action, index]));

/** The order in which a plan is read: what takes access away first, then by name. */
export function inReadingOrder(entries: PlanEntry[]): PlanEntry[] {
  const keyOf = ({ name, attribute, member }: PlanEntry): string =>
    `${name} ${attribute ?? ''} ${member?.name ?? ''} ${member?.platformId ?? ''}`;
  const keyed = entries.map((entry) => ({
    entry,
    rank: RANK.get(entry.action) ?? ACTIONS.length,
    key: keyOf(entry),
  }));
  keyed.sort((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ entry }) => entry);
}

/** How many changes a plan would make, apart from what is only shown. */
export const changesIn = ({ entries }: Plan): number => entries.filter(isChange).length;

export type PlanOutcome = 'changes' | 'unproven' | 'no changes';

/**
 * Summarises comparisons. `changes`: something differs, or a desired resource is missing. `unproven`: nothing was
 * found, and too little could be read to say that there is nothing.
 */
export function outcomeOf(plans: readonly Plan[]): PlanOutcome {
  const isMissing = ({ coverage: { users, groups } }: Plan): boolean => users.missing + groups.missing > 0;
  if (plans.some((plan) => changesIn(plan) > 0 || isMissing(plan))) return 'changes';
  const isProven = ({ proof: { users, groups }, unknown }: Plan): boolean =>
    users.complete && groups.complete && unknown === 0;
  return plans.every(isProven) ? 'no changes' : 'unproven';
}

/** A plan without what pushes and settings explain. */
export function driftOnly(plan: Plan): Plan {
  const entries = plan.entries.filter(isDrift);
  return { ...plan, entries, counts: countsOf(entries) };
}

/**
 * The document of saved plans (SavedPlans) as JSON, entry by entry: a plan of everybody never stands in memory as one
 * text, and a caller that waits between the pieces never blocks for long. Its hash is over the canonical JSON of the plans.
 */
export function* savedPieces(plans: Plan[]): Generator<string> {
  const hash = createHash('sha256').update('[');
  yield '{"format":"scim-bridge plans","formatVersion":1,"plans":[';
  for (const [index, { entries, ...rest }] of plans.entries()) {
    const comma = index === 0 ? '' : ',';
    // A stand-in keeps the place of the entries among the sorted members.
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

function hashOf(plans: Plan[]): string {
  let last = '';
  for (const piece of savedPieces(plans)) last = piece;
  return last.slice(HASH_AT, HASH_AT + HASH_LENGTH);
}

/** @throws Error with what is wrong with the file */
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
