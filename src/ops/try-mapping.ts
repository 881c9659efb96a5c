// Tries an attribute mapping that is not in the settings: on one person, whose record and link the caller has read, and on
// sample people.
import type { Link } from '../directory/outbox/link.ts';
import type { UserWithGroups } from '../directory/resources/user-reads.ts';
import type { Ref } from '../directory/records.ts';
import type { UserAttributeType } from '../platform/wire.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Resource, ResourceType } from '../scim/index.ts';
import { createPace, type Slice } from '../support/pace.ts';
import { compileAttribute, toMapped, type AttributeRule, type Mapping } from '../sync/mapping/mapping.ts';
import { tryExpression } from '../sync/mapping/rule-trial.ts';
import type { MappedValue } from '../sync/mapping/values.ts';

/** A fault of the mapping; `path` is below the attributes: `/region/expression`. */
export interface MappingFault {
  path: string;
  message: string;
}

/** A mapping under trial. */
export interface TriedMapping {
  /** The attributes without a fault. */
  attributes: Record<string, AttributeRule>;
  faults: MappingFault[];
  userType: ResourceType;
  /** The mapping in the settings, with its attributes left out: it only decides whether a person is in scope. */
  scope: Pick<Mapping, 'user'>;
}

/** Checks the attributes as the settings file is checked. */
export type CompileTried = (target: string, attributes: object) => TriedMapping;

interface TriedValue {
  name: string;
  type: UserAttributeType;
  /** `value`: `desired` is written. `clear`: the value is removed. `keep`: the platform keeps its value. `fault`: see `fault`. */
  outcome: 'value' | 'clear' | 'keep' | 'fault';
  desired: unknown;
  /** The value that was last applied at the platform; null: none. */
  applied: unknown;
  /** Null without a fault. */
  fault: string | null;
}

/** The effect of a mapping on one person. */
interface Trial {
  connection: string;
  target: string;
  ref: Ref;
  name: string;
  /** Whether the person is in the scope of the target. */
  inScope: boolean;
  /** The pushed resource as the mapping sees it. */
  resource: Resource;
  values: TriedValue[];
  faults: MappingFault[];
  /** Whether all expressions were tried on sample people within the time limit. */
  triedOnSamples: boolean;
}

/** Longest time for all rules of one trial. */
const TRY_MS = 5000;
const TOO_LATE = 'was not computed, because the rules before it took too long';
/** Longest value in an answer, in characters of its JSON. */
const SHOWN_CHARACTERS = 4000;

/** Maps one person by the given rules, and tries them on sample people, in limited time. @param signal ends the trial early */
export async function tryMapping(
  { connection, target, clock }: Pick<ReconcileScope, 'connection' | 'target' | 'clock'>,
  { person, name, link }: { person: UserWithGroups; name: string; link: Link },
  tried: TriedMapping,
  signal: AbortSignal,
): Promise<Trial> {
  const end = clock.now() + TRY_MS;
  const startSlice = createPace();
  const time: TrialTime = {
    slice: startSlice(),
    isTooLate: () => signal.aborted || clock.now() >= end,
  };
  const { id, text } = person.record;
  const stored = JSON.parse(text) as Resource;
  const resource = toMapped(stored, id, person.groups);
  const faults = [...tried.faults];
  const rules = compileTried(tried, faults);
  const values = await mapPerson(rules, { resource, link }, time);
  const triedOnSamples = await trySamples(rules, faults, time);
  const { inScope } = await tried.scope.user(stored, id, person.groups);
  return {
    connection,
    target: target.name,
    ref: `User:${id}`,
    name,
    inScope,
    resource,
    values,
    faults,
    triedOnSamples,
  };
}

/** Time for one trial. */
interface TrialTime {
  /** Lets other requests run between the rules (support/pace.ts). */
  slice: Slice;
  isTooLate: () => boolean;
}

type CompiledRules = ReturnType<typeof compileTried>;

/** Returns the value that each rule gives the person, beside the value that was last applied. */
async function mapPerson(
  rules: CompiledRules,
  { resource, link }: { resource: Resource; link: Link },
  { slice, isTooLate }: TrialTime,
): Promise<TriedValue[]> {
  const values: TriedValue[] = [];
  for (const { name, rule, map } of rules) {
    if (slice.isOver()) await slice.rest();
    const mapped: MappedValue = isTooLate() ? { kind: 'invalid', reason: TOO_LATE } : await map(resource);
    const applied = briefValue(link.attributes?.[name]);
    values.push({ name, type: rule.type, ...outcomeOf(mapped), applied });
  }
  return values;
}

/** Tries the expressions on sample people, and adds their faults. @returns false when the time was over before the last one */
async function trySamples(
  rules: CompiledRules,
  faults: MappingFault[],
  { slice, isTooLate }: TrialTime,
): Promise<boolean> {
  for (const { name, rule } of rules) {
    if (rule.expression === undefined) continue;
    if (slice.isOver()) await slice.rest();
    if (isTooLate()) return false;
    const message = await tryExpression(rule.expression);
    if (message !== undefined) faults.push({ path: `/${name}/expression`, message });
  }
  return true;
}

function outcomeOf(mapped: MappedValue): Pick<TriedValue, 'outcome' | 'desired' | 'fault'> {
  switch (mapped.kind) {
    case 'value':
      return { outcome: 'value', desired: briefValue(mapped.value), fault: null };
    case 'clear':
      return { outcome: 'clear', desired: null, fault: null };
    case 'absent':
      return { outcome: 'keep', desired: null, fault: null };
    case 'invalid':
      return { outcome: 'fault', desired: null, fault: mapped.reason };
  }
}

/** Returns the rules that compile; a fault of each other one is added to `faults`. */
export function compileTried({ attributes, userType }: TriedMapping, faults: MappingFault[]) {
  return Object.entries(attributes).flatMap(([name, rule]) => {
    try {
      return [{ name, rule, map: compileAttribute(rule, userType) }];
    } catch (error) {
      const source = rule.expression === undefined ? 'from' : 'expression';
      faults.push({ path: `/${name}/${source}`, message: (error as Error).message });
      return [];
    }
  });
}

/** Returns the value as it is shown: a value that is too long becomes the beginning of its JSON. */
export function briefValue(value: unknown): unknown {
  const text = JSON.stringify(value ?? null);
  return text.length <= SHOWN_CHARACTERS ? (value ?? null) : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
