// Builds a data model from the YAML of a folder. `readModel` reads the sources of cubes and views, and builds the cubes
// (`buildCube`), the views over them (`buildView`), and the tables with sample rows. Faults of the files are collected, and
// thrown together.
import type { Cube, Dimension, Model, ModelTable, Segment } from '../model.ts';
import { createDice } from '../sampling.ts';
import { buildMeasure } from './build-measures.ts';
import { readCube, sqlOf, type CubeSource, type DimensionSource, type JoinSource } from './cube-source.ts';
import { extendedNodes } from './extended-nodes.ts';
import { ModelFaults, readModelFiles } from './model-files.ts';
import { memberTitle, requireKeys } from './entry-properties.ts';
import { parseModelFile, type SourceNode } from './model-source.ts';
import { usesOf } from './member-uses.ts';
import { readPolicies } from './policy-source.ts';
import { createSampler } from './sample-tables.ts';
import { fromOf, neededTables, tablesOf } from './needed-tables.ts';
import { readView, type ShownMember, type ViewSource } from './view-source.ts';

/** One joined cube of a source, with the condition and whether the join multiplies rows. */
interface Joined {
  readonly cube: CubeSource;
  readonly on: string;
  readonly multiplies: boolean;
}

type Cubes = ReadonlyMap<string, CubeSource>;

/** A member of a cube that a view shows. */
type Picked = ShownMember & { readonly cube: CubeSource };

/** Returns the model of a folder. @throws ModelFaults with all faults */
export function readModel(folder: string): Model {
  const faults: string[] = [];
  const files = readModelFiles(folder);
  const roots = files.models.flatMap((file) => parseModelFile(file, faults) ?? []);
  for (const root of roots) requireKeys(root, 'file');
  const nodes = extendedNodes(roots.flatMap((root) => root.nodes('cubes')));
  const views = extendedNodes(roots.flatMap((root) => root.nodes('views'))).map(readView);
  const sources = nodes.map(readCube);
  const cubes = new Map<string, CubeSource>();
  for (const source of [...sources, ...views]) {
    if (cubes.has(source.name)) source.node.fail(`the name "${source.name}" is used twice`, 'name');
    if ('joins' in source) cubes.set(source.name, source);
  }
  if (faults.length > 0) throw new ModelFaults(faults);
  const built = sources.map((source) => buildCube(source, cubes));
  const all = [...built, ...views.flatMap((view) => buildView(view, cubes) ?? [])];
  const needed = neededTables(cubes);
  const sample = createSampler(needed, files.tables, faults);
  if (faults.length > 0) throw new ModelFaults([...new Set(faults)]);
  // Only the types of the columns are used, so any sample will do.
  const tables = sample({ roll: createDice('types'), untilMs: 0, isProduction: false });
  return { name: 'model', cubes: withReach(all).map((cube) => withWholeNumbers(cube, tables)), sample };
}

function buildCube(cube: CubeSource, cubes: Cubes): Cube {
  const joined = reachable(cube, cubes);
  // `joinTo` reports a join to an unknown cube. `reachable` does not call it for every join, so it is called for all here.
  for (const join of cube.joins) joinTo(join, cube, cubes);
  const visibilityAndUses = ({ name, isPublic }: { name: string; isPublic: boolean }) => ({
    ...(isPublic ? {} : { isPrivate: true }),
    uses: usesOf(cube, name, cubes),
  });
  return withPolicies(cube.node, {
    name: cube.name,
    kind: 'cube',
    title: cube.title,
    ...descriptionOf(cube.node),
    isPublic: cube.isPublic,
    tables: tablesOf(cube),
    cubes: [],
    key: keyOf(cube, cubes, cube.joins.length > 0),
    // Cubes only; `withReach` adds the views over them.
    reaches: joined.map((join) => join.cube.name),
    source: sourceOf(cube, joined),
    measures: cube.measures.map((measure) => ({
      ...buildMeasure(measure, cube, cubes),
      ...visibilityAndUses(measure),
    })),
    dimensions: cube.dimensions.map((dimension) => ({
      ...buildDimension(dimension, cube, cubes),
      ...visibilityAndUses(dimension),
    })),
    segments: cube.segments.map((segment) => ({
      ...buildSegment(segment, cube, cubes),
      ...visibilityAndUses(segment),
    })),
  });
}

/** Returns the joined cubes that a cube reaches by joins that repeat no rows, each once, nearest first. */
function reachable(root: CubeSource, cubes: Cubes): Joined[] {
  const found: Joined[] = [];
  const seen = new Set([root.name]);
  const queue = [root];
  for (let next = queue.shift(); next; next = queue.shift()) {
    for (const join of next.joins) {
      const joined = seen.has(join.to) || join.multiplies ? undefined : joinTo(join, next, cubes);
      if (!joined) continue;
      seen.add(join.to);
      found.push(joined);
      queue.push(joined.cube);
    }
  }
  return found;
}

/** Returns the join to a cube; undefined for an unknown cube, which is reported. */
function joinTo(join: JoinSource, from: CubeSource, cubes: Cubes): Joined | undefined {
  const cube = cubes.get(join.to);
  if (cube) return { cube, on: sqlOf(join, from, cubes), multiplies: join.multiplies };
  join.node.fail(`there is no cube "${join.to}"`, 'name');
  return undefined;
}

/** Returns a view; undefined, and a reported fault, if it begins with no known cube. */
function buildView(view: ViewSource, cubes: Cubes): Cube | undefined {
  const root = cubes.get(view.parts[0]?.path[0] ?? '');
  if (!root) {
    view.node.fail('the first "join_path" of the view names no cube', 'cubes');
    return undefined;
  }
  const joined = joinsOf(view, root, cubes);
  const isMultiplied = joined.some(({ multiplies }) => multiplies);
  const { measures, dimensions, segments } = membersOf(view, root, isMultiplied, cubes);
  const used = [root, ...joined.map(({ cube }) => cube)];
  return withPolicies(view.node, {
    name: view.name,
    kind: 'view',
    title: view.title,
    ...descriptionOf(view.node),
    isPublic: view.isPublic,
    base: root.name,
    measures,
    dimensions,
    segments,
    tables: [...new Set(used.flatMap(tablesOf))],
    cubes: used.map(({ name }) => name),
    key: keyOf(root, cubes, false),
    source: sourceOf(root, joined),
  });
}

/** Returns the joins along the paths of a view; reports a cube that is reached by two paths. */
function joinsOf(view: ViewSource, root: CubeSource, cubes: Cubes): Joined[] {
  const found = new Map<string, Joined & { path: string }>();
  for (const { node, path } of view.parts) {
    if (path[0] !== root.name)
      node.fail(`"join_path" begins with ${root.name}, the first cube of the view`, 'join_path');
    // `at` counts from the second cube of the path, so `path[at]` is the cube before `to`.
    path.slice(1).forEach((to, at) => {
      const from = cubes.get(path[at] ?? '');
      const join = from?.joins.find((candidate) => candidate.to === to);
      const pathOfTo = path.slice(0, at + 2).join('.');
      const known = found.get(to);
      if (known?.path === pathOfTo) return;
      if (known) node.fail(`${to} is reached by two paths, which is not supported`, 'join_path');
      const joined = from && join && joinTo(join, from, cubes);
      if (joined) found.set(to, { ...joined, path: pathOfTo });
      else node.fail(`there is no join from ${path[at]} to ${to}`, 'join_path');
    });
  }
  return [...found.values()];
}

/**
 * Returns the members that a view takes from its cubes; reports two members of the same name.
 * @param isMultiplied whether a join of the view repeats rows, so that measures of `root` have to count each row once
 */
function membersOf(view: ViewSource, root: CubeSource, isMultiplied: boolean, cubes: Cubes) {
  const picked = view.parts.flatMap((part) => {
    const cube = cubes.get(part.path.at(-1) ?? '');
    return cube ? part.select(cube).map((member) => ({ ...member, cube })) : [];
  });
  const names = picked.map(({ name }) => name);
  for (const name of new Set(names.filter((one, at) => names.indexOf(one) < at)))
    view.node.fail(`the view has two members "${name}"; use "prefix" or "alias"`, 'cubes');
  const renamed = <T extends object>(built: T, node: SourceNode, { name, title, member, cube }: Picked) => ({
    ...built,
    name,
    title: title ?? memberTitle(node, name),
    alias: `${cube.name}.${member}`,
    uses: [`${cube.name}.${member}`, ...usesOf(cube, member, cubes)],
  });
  const measures = picked.flatMap((shown) => {
    const source = shown.cube.measures.find(({ name }) => name === shown.member);
    const key = shown.cube === root && !isMultiplied ? undefined : keyOf(shown.cube, cubes, true);
    return source ? [renamed(buildMeasure(source, shown.cube, cubes, key), source.node, shown)] : [];
  });
  const dimensions = picked.flatMap((shown) => {
    const source = shown.cube.dimensions.find(({ name }) => name === shown.member);
    if (!source) return [];
    // In a view the primary key of a cube is a dimension like any other.
    const built = buildDimension({ ...source, isKey: false }, shown.cube, cubes);
    return [{ ...renamed(built, source.node, shown), from: shown.cube.name }];
  });
  const segments = picked.flatMap((shown) => {
    const source = shown.cube.segments.find(({ name }) => name === shown.member);
    return source ? [renamed(buildSegment(source, shown.cube, cubes), source.node, shown)] : [];
  });
  return { measures, dimensions, segments };
}

function buildDimension(source: DimensionSource, cube: CubeSource, cubes: Cubes): Dimension {
  const { type, isKey, granularities } = source;
  return {
    ...textsOf(source),
    type,
    ...(isKey ? { isKey } : {}),
    ...(granularities.length > 0 ? { granularities } : {}),
    sql: sqlOf(source, cube, cubes),
  };
}

const buildSegment = (source: CubeSource['segments'][number], cube: CubeSource, cubes: Cubes): Segment => ({
  ...textsOf(source),
  sql: sqlOf({ node: source.node, template: source.sql }, cube, cubes),
});

const textsOf = ({
  name,
  title,
  description,
}: {
  name: string;
  title: string;
  description?: string | undefined;
}) => ({
  name,
  title,
  ...(description === undefined ? {} : { description }),
});

const descriptionOf = ({ values }: SourceNode): { description?: string } =>
  typeof values['description'] === 'string' ? { description: values['description'] } : {};

/**
 * Returns the SQL of the primary key, `1` for a cube without one.
 * @param isNeeded whether a missing key is reported: the cube is joined
 */
function keyOf(cube: CubeSource, cubes: Cubes, isNeeded: boolean): string {
  const keys = cube.dimensions.filter(({ isKey }) => isKey).map((dimension) => sqlOf(dimension, cube, cubes));
  if (keys.length === 0 && isNeeded)
    cube.node.fail(`${cube.name} is joined and needs a dimension with "primary_key: true"`, 'name');
  return keys.length > 1 ? `row(${keys.join(', ')})` : (keys[0] ?? '1');
}

const sourceOf =
  (root: CubeSource, joined: readonly Joined[]): Cube['source'] =>
  (tableName) =>
    [
      fromOf(root, tableName),
      ...joined.map(({ cube, on }) => `LEFT JOIN ${fromOf(cube, tableName)} ON ${on}`),
    ].join(' ');

function withPolicies(node: SourceNode, cube: Omit<Cube, 'policies'>): Cube {
  const dimensions = new Set(cube.dimensions.map(({ name }) => name));
  const others = [...cube.measures, ...cube.segments].map(({ name }) => name);
  const members = new Set([...others, ...dimensions]);
  return { ...cube, policies: readPolicies(node, members, dimensions) };
}

/** Returns the names of the cubes whose tables a query on this cube or view can use: the table aliases of its FROM clause. */
const aliasesOf = (cube: Cube): string[] =>
  cube.kind === 'view' ? [...cube.cubes] : [cube.name, ...(cube.reaches ?? [])];

/** Sets `reaches` of each cube and view: the other cubes and views whose tables are all in its FROM clause. */
const withReach = (all: readonly Cube[]): Cube[] =>
  all.map((cube) => {
    const aliases = new Set(aliasesOf(cube));
    const inside = all.filter(
      (other) =>
        other !== cube &&
        (other.kind === 'view' ? other.cubes : [other.name]).every((alias) => aliases.has(alias)),
    );
    return { ...cube, reaches: inside.map(({ name }) => name) };
  });

const COLUMN = /^(?:"?\w+"?\.)?"?(\w+)"?$/;

/** Sets `isWhole` of dimensions and measures that are plain columns of integers. */
function withWholeNumbers(cube: Cube, tables: readonly ModelTable[]): Cube {
  const columnsOfCube = tables
    .filter(({ name }) => cube.tables.includes(name))
    .flatMap(({ columns }) => columns);
  const withIsWhole = <T extends { readonly sql: string }>(one: T): T => {
    const [, column] = COLUMN.exec(one.sql) ?? [];
    const isWhole = columnsOfCube.some(([name, type]) => name === column && type === 'INTEGER');
    return isWhole ? { ...one, isWhole: true } : one;
  };
  return { ...cube, dimensions: cube.dimensions.map(withIsWhole), measures: cube.measures.map(withIsWhole) };
}
