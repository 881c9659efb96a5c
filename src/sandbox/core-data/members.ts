// Finds the members that a query names as `cube.member`. A private member is reported as unknown.
import { SandboxProblem } from '../problem.ts';
import type { Cube, Dimension, Measure, Model, Segment } from './model.ts';

/** A member with its cube and its name in queries. */
export interface FoundMember<Member> {
  readonly cube: Cube;
  readonly member: Member;
  readonly name: string;
}

type Kind = 'measures' | 'dimensions' | 'segments';
interface Kinds {
  measures: Measure;
  dimensions: Dimension;
  segments: Segment;
}

/** Returns the refusal of an invalid query. */
export function userError(message: string): SandboxProblem {
  return new SandboxProblem(400, message);
}

/** Returns the member, or undefined when there is none of that kind. */
export function lookUp<K extends Kind>(
  model: Model,
  kind: K,
  name: string,
): FoundMember<Kinds[K]> | undefined {
  const [cubeName, memberName, ...rest] = name.split('.');
  const cube = model.cubes.find((one) => one.isPublic && one.name === cubeName);
  const members: readonly { readonly name: string }[] = cube?.[kind] ?? [];
  const member = members.find((one) => one.name === memberName) as Kinds[K] | undefined;
  return cube && member && rest.length === 0 ? { cube, member, name } : undefined;
}

/** Returns the member. @throws 400 with the fault of its name */
export function requireMember<K extends Kind>(model: Model, kind: K, name: string): FoundMember<Kinds[K]> {
  const found = lookUp(model, kind, name);
  if (!found) throw userError(`'${name.slice(0, 200)}' is not found among the ${kind} of the data model`);
  return found;
}
