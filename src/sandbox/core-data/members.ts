// Finding the members that a query names: `cube.member`, public ones only; a private one is as unknown as a typo.
import { Problem } from '../problem.ts';
import type { Cube, Dimension, Measure, Model, Segment } from './model.ts';

/** A member with the cube it belongs to and the name a client knows it by. */
export interface Found<Member> {
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

/** The refusal of a query that is the caller's mistake. */
export function userError(message: string): Problem {
  return new Problem(400, message);
}

/** The member, or undefined when there is none of that kind. */
export function lookUp<K extends Kind>(model: Model, kind: K, name: string): Found<Kinds[K]> | undefined {
  const [cubeName, memberName, ...rest] = name.split('.');
  const cube = model.cubes.find((one) => one.isPublic && one.name === cubeName);
  const members: readonly { readonly name: string }[] = cube?.[kind] ?? [];
  const member = members.find((one) => one.name === memberName) as Kinds[K] | undefined;
  return cube && member && rest.length === 0 ? { cube, member, name } : undefined;
}

/** The member, or 400 with what is wrong about its name. */
export function requireMember<K extends Kind>(model: Model, kind: K, name: string): Found<Kinds[K]> {
  const found = lookUp(model, kind, name);
  if (!found) throw userError(`'${name.slice(0, 200)}' is not found among the ${kind} of the data model`);
  return found;
}
