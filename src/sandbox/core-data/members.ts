// Finds the members that a query names as `cube.member`, and builds the refusals of unknown and hidden ones.
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

/** A refusal of the data model's compiler; family.ts adds `type: "UserError"` to its body only. */
export class CompilerRefusal extends SandboxProblem {}

/** Returns the refusal of a query whose form is invalid, or that the database refuses; its body has no `type`. */
export function userError(message: string): SandboxProblem {
  return new SandboxProblem(400, message);
}

/** Returns the refusal of the data model's compiler. */
export const compilerError = (message: string): CompilerRefusal => new CompilerRefusal(400, message);

/** Returns the member, private or not, or undefined when there is none of that kind. */
export function lookUp<K extends Kind>(
  model: Model,
  kind: K,
  name: string,
): FoundMember<Kinds[K]> | undefined {
  const [cubeName, memberName, ...rest] = name.split('.');
  const cube = model.cubes.find((one) => one.name === cubeName);
  const members: readonly { readonly name: string }[] = cube?.[kind] ?? [];
  const member = members.find((one) => one.name === memberName) as Kinds[K] | undefined;
  return cube && member && rest.length === 0 ? { cube, member, name } : undefined;
}

/** Returns the refusal of a name that the model does not have. */
export function unknownMember(model: Model, name: string): SandboxProblem {
  const [cube = '', ...rest] = name.slice(0, 200).split('.');
  return model.cubes.some((one) => one.name === cube)
    ? compilerError(`'${rest.join('.')}' not found for path '${name.slice(0, 200)}'`)
    : compilerError(`Cube '${cube}' not found for path '${name.slice(0, 200)}'`);
}

/** Returns the member. @throws 400 if the model has none of that kind */
export function requireMember<K extends Kind>(model: Model, kind: K, name: string): FoundMember<Kinds[K]> {
  const found = lookUp(model, kind, name);
  if (!found) throw unknownMember(model, name);
  return found;
}

/** Returns the refusal of a member that is private, or that no policy shows to the caller. Cube answers 500. */
export function hiddenMember({
  cube,
  member,
  name,
}: FoundMember<{ readonly isPrivate?: boolean }>): SandboxProblem {
  const isPublic = cube.isPublic && member.isPrivate !== true;
  // Cube shows a private member as the alias that it has in SQL.
  const shownName = isPublic ? name : name.replace('.', '__');
  return userError(
    `Error: You requested hidden member: '${shownName}'. Please make it visible using \`public: true\`. ` +
      'Please note primaryKey fields are `public: false` by default: ' +
      'https://cube.dev/docs/schema/reference/joins#setting-a-primary-key.',
  );
}
