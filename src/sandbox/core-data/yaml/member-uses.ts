// Finds the members that the SQL of a member evaluates: references to others, and the primary key of a count.
import type { CubeSource } from './cube-source.ts';

type Cubes = ReadonlyMap<string, CubeSource>;

/** `{member}`, `{CUBE.member}`, `{other_cube.member}` or `{CUBE}`. */
const REFERENCE = /\{([^{}]*)\}/g;

interface Referred {
  readonly cube: CubeSource;
  readonly member: string;
}

/** Returns the members that the SQL of a member names and, for a measure that counts rows, the primary key. */
function referredBy({ cube, member }: Referred, cubes: Cubes): Referred[] {
  const measure = cube.measures.find(({ name }) => name === member);
  const keys = measure?.countsKeys ? cube.dimensions.filter(({ isKey }) => isKey) : [];
  const template = cube.members.get(member) ?? cube.segments.find(({ name }) => name === member)?.sql ?? '';
  const named = [...template.matchAll(REFERENCE)].flatMap(([, inside = '']): Referred[] => {
    const [first = '', second] = inside.trim().split('.');
    const owner = first === 'CUBE' ? cube : cubes.get(first);
    if (owner) return second === undefined ? [] : [{ cube: owner, member: second }];
    return [{ cube, member: first }];
  });
  return [...keys.map(({ name }) => ({ cube, member: name })), ...named].filter((one) =>
    one.cube.members.has(one.member),
  );
}

/** Returns the names, as `cube.member`, of all further members that a query with the member evaluates. */
export function usesOf(cube: CubeSource, member: string, cubes: Cubes): string[] {
  const found = new Set<string>();
  const queue: Referred[] = [{ cube, member }];
  for (let next = queue.shift(); next; next = queue.shift()) {
    for (const one of referredBy(next, cubes)) {
      const name = `${one.cube.name}.${one.member}`;
      if (found.has(name)) continue;
      found.add(name);
      queue.push(one);
    }
  }
  found.delete(`${cube.name}.${member}`);
  return [...found];
}
