// Reads views of Cube's YAML: the cubes that they join and the members that they show.
import { isJsonObject } from '../../json.ts';
import type { CubeSource } from './cube-source.ts';
import { isPublicIn, nameOf, requireKeys, memberTitle } from './entry-properties.ts';
import type { SourceNode } from './model-source.ts';

/** A member of a cube under the name that it has in the view. */
export interface ShownMember {
  readonly member: string;
  readonly name: string;
  readonly title: string | undefined;
}

interface ViewPart {
  readonly node: SourceNode;
  /** Names of the cubes from the first to the one whose members are shown. */
  readonly path: readonly string[];
  /** Returns the members of the cube that the view shows; reports unknown names. */
  select(cube: CubeSource): ShownMember[];
}

export interface ViewSource {
  readonly node: SourceNode;
  readonly name: string;
  readonly title: string;
  readonly isPublic: boolean;
  readonly parts: readonly ViewPart[];
}

/** An entry of `includes` or `excludes`. */
interface ListedMember {
  readonly name: string;
  readonly alias: string | undefined;
  readonly title: string | undefined;
}

function listedMembers(node: SourceNode, name: string): ListedMember[] | '*' {
  const value = node.values[name];
  if (value === '*') return '*';
  const list: unknown[] = Array.isArray(value) ? value : [];
  if (!Array.isArray(value) && value !== undefined && value !== null)
    node.fail(`"${name}" must be "*" or a list of names`, name);
  return list.flatMap((entry, index): ListedMember[] => {
    if (typeof entry === 'string') return [{ name: entry, alias: undefined, title: undefined }];
    const text = (key: string): string | undefined =>
      isJsonObject(entry) && typeof entry[key] === 'string' ? entry[key] : undefined;
    const member = text('name');
    if (member !== undefined) return [{ name: member, alias: text('alias'), title: text('title') }];
    node.fail(`"${name}" has an entry without a name`, name, index);
    return [];
  });
}

function readPart(node: SourceNode): ViewPart {
  requireKeys(node, 'viewCube');
  // A cube of the path may be in braces.
  const path = (node.text('join_path') ?? '').split('.').map((name) => name.replace(/^\{(.*)\}$/, '$1'));
  if (path.some((name) => name === '')) node.fail('"join_path" is missing', 'join_path');
  const prefix = node.flag('prefix') ? `${node.text('alias') ?? path.at(-1)}_` : '';
  return {
    node,
    path,
    select(cube) {
      const all = [...cube.measures, ...cube.dimensions, ...cube.segments];
      const included = listedMembers(node, 'includes');
      const excluded = listedMembers(node, 'excludes');
      // A view shows private members of its cubes too.
      const everything = all.map(({ name }) => ({ name, alias: undefined, title: undefined }));
      const chosen = included === '*' ? everything : included;
      for (const [property, list] of Object.entries({ includes: included, excludes: excluded }))
        for (const { name } of list === '*' ? [] : list)
          if (!all.some((member) => member.name === name))
            node.fail(`${cube.name} has no member "${name}"`, property);
      const isExcluded = (name: string): boolean =>
        excluded === '*' || excluded.some((member) => member.name === name);
      return chosen
        .filter(({ name }) => !isExcluded(name))
        .map(({ name, alias, title }) => ({ member: name, name: alias ?? `${prefix}${name}`, title }));
    },
  };
}

/** Returns the source of a view; faults are reported at its nodes. */
export function readView(node: SourceNode): ViewSource {
  requireKeys(node, 'view');
  const name = nameOf(node);
  const parts = node.nodes('cubes').map(readPart);
  if (parts.length === 0) node.fail('a view needs "cubes"', 'name');
  return { node, name, title: memberTitle(node, name), isPublic: isPublicIn(node), parts };
}
