// Computes the effect of an attribute mapping that is not in the settings: maps all people of a target and compares them with
// the values that were last applied. Reads Redis, writes nothing.
import type { Link } from '../directory/outbox/link.ts';
import { type GroupName, isSound, refOf, type PlacedRecord, type Ref } from '../directory/records.ts';
import { isProtected, protectionAt } from '../reconcile/compare/protected.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Resource } from '../scim/index.ts';
import { createPace, type Slice } from '../support/pace.ts';
import { toMapped } from '../sync/mapping/mapping.ts';
import { sameValue } from '../sync/mapping/values.ts';
import { briefValue, compileTried, type MappingFault, type TriedMapping } from './try-mapping.ts';

/** Number of people by the effect on the value of one attribute. */
interface AttributeEffect {
  name: string;
  /** The value changes. */
  changed: number;
  /** The value is removed. */
  emptied: number;
  /** The value cannot be computed. */
  faulty: number;
}

interface EffectExample {
  connection: string;
  ref: Ref;
  /** userName of the person. */
  name: string;
  attribute: string;
  old: unknown;
  /** Null: the value is removed, or cannot be computed. */
  new: unknown;
  /** Null without a fault. */
  fault: string | null;
}

interface MappingEffect {
  target: string;
  /** People that were compared. */
  compared: number;
  /** People that are not compared: damaged record, out of scope, protected, or without an account yet. */
  leftOut: number;
  total: number;
  /** Whether all users were compared within the time limit. */
  isWhole: boolean;
  /** People with at least one value that changes, is removed or cannot be computed. */
  affected: number;
  attributes: AttributeEffect[];
  examples: EffectExample[];
  /** Attributes of the settings that this mapping does not have: their values stay at the platform as they are. */
  noLongerMapped: string[];
  faults: MappingFault[];
}

interface EffectOptions {
  /** Name of the target. A target that no connection feeds has no scope, and so no people. */
  target: string;
  limitMs: number;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** Largest number of examples. */
const EXAMPLES = 20;

type EffectKind = keyof Omit<AttributeEffect, 'name'>;

/** A person whose values are compared, with what the mapping reads and what was last applied. */
interface ComparedPerson {
  connection: string;
  record: PlacedRecord;
  resource: Resource;
  groups: GroupName[];
  link: Link;
}

/** One computation: the rules, the counts so far, and the end of the time for it. */
interface Computation {
  tried: TriedMapping;
  rules: ReturnType<typeof compileTried>;
  effect: MappingEffect;
  isTimeUp: () => boolean;
  /** Lets other requests run between the rules (support/pace.ts). */
  slice: Slice;
}

/**
 * Maps all people of a target by the given rules, and counts the values that would change.
 * @param scopes one for each connection of the target
 */
export async function effectOfMapping(
  scopes: readonly ReconcileScope[],
  tried: TriedMapping,
  { target, limitMs, signal }: EffectOptions,
): Promise<MappingEffect> {
  const [first] = scopes;
  const now = (): number => first?.clock.now() ?? 0;
  const end = now() + limitMs;
  const faults = [...tried.faults];
  const rules = compileTried(tried, faults);
  const known = new Set(Object.keys(tried.attributes));
  const totals = await Promise.all(scopes.map(({ directory }) => directory.count('User')));
  const effect: MappingEffect = {
    target,
    compared: 0,
    leftOut: 0,
    total: totals.reduce((sum, each) => sum + each, 0),
    isWhole: true,
    affected: 0,
    attributes: rules.map(({ name }) => ({ name, changed: 0, emptied: 0, faulty: 0 })),
    examples: [],
    noLongerMapped: Object.keys(first?.target.mapping.types ?? {}).filter((name) => !known.has(name)),
    faults,
  };
  const isTimeUp = (): boolean => signal.aborted || now() >= end;
  const startSlice = createPace();
  const computation: Computation = { tried, rules, effect, isTimeUp, slice: startSlice() };
  for (const scope of scopes) {
    for await (const records of scope.directory.scan('User')) {
      effect.isWhole = await countPortion(computation, scope, records);
      if (!effect.isWhole) return effect;
    }
  }
  return effect;
}

/** Counts the people of one portion. @returns false when the time was over before the last record */
async function countPortion(
  computation: Computation,
  scope: ReconcileScope,
  records: PlacedRecord[],
): Promise<boolean> {
  const { tried, effect, isTimeUp, slice } = computation;
  const { connection, directory, links, target } = scope;
  const protection = protectionAt(target);
  const sound = records.filter((record) => isSound(record));
  effect.leftOut += records.length - sound.length;
  const ids = sound.map(({ id }) => id);
  const refs = ids.map((id) => refOf('User', id));
  const [groups, found] = await Promise.all([directory.groupsOf(ids), links.getMany(target.name, refs)]);
  for (const [index, record] of sound.entries()) {
    if (slice.isOver()) await slice.rest();
    if (isTimeUp()) return false;
    const link = found[index] ?? {};
    const resource = JSON.parse(record.text) as Resource;
    const joined = groups[index] ?? [];
    const { inScope } = await tried.scope.user(resource, record.id, joined);
    const isLeftOut = !inScope || link.id === undefined || isProtected(link, protection);
    if (isLeftOut) effect.leftOut++;
    else if (!(await countPerson(computation, { connection, record, resource, groups: joined, link })))
      return false;
  }
  return true;
}

/** Counts one person. @returns false when the time was over before the last rule, so nothing was counted */
async function countPerson(
  { rules, effect, isTimeUp, slice }: Computation,
  { connection, record, resource, groups, link }: ComparedPerson,
): Promise<boolean> {
  const mapped = toMapped(resource, record.id, groups);
  /** Effects in the order of the rules; undefined: the value stays. */
  const kinds: (EffectKind | undefined)[] = [];
  const examples: EffectExample[] = [];
  for (const { name: attribute, map } of rules) {
    if (slice.isOver()) await slice.rest();
    if (isTimeUp()) return false;
    const value = await map(mapped);
    const old = link.attributes?.[attribute] ?? null;
    // `clear`: the value is removed. `absent`: the person has no value, and `onEmpty` keeps the one at the platform.
    const desired = value.kind === 'value' ? value.value : null;
    const fault = value.kind === 'invalid' ? value.reason : null;
    const isSame = value.kind === 'absent' || (fault === null && sameValue(desired, old));
    kinds.push(isSame ? undefined : effectOn(desired, fault));
    if (isSame || effect.examples.length + examples.length >= EXAMPLES) continue;
    const ref = refOf('User', record.id);
    const name = typeof resource.userName === 'string' ? resource.userName : record.id;
    examples.push({
      connection,
      ref,
      name,
      attribute,
      old: briefValue(old),
      new: briefValue(desired),
      fault,
    });
  }
  effect.compared++;
  if (kinds.some((kind) => kind !== undefined)) effect.affected++;
  for (const [index, kind] of kinds.entries()) {
    const counts = effect.attributes[index];
    if (counts && kind) counts[kind]++;
  }
  effect.examples.push(...examples);
  return true;
}

/** Returns the effect on a value that does not stay as it is. */
function effectOn(desired: unknown, fault: string | null): EffectKind {
  if (fault !== null) return 'faulty';
  return desired === null ? 'emptied' : 'changed';
}
