// Describes members for `/v1/meta`, for the annotation of an answer and for entities (contract 5.3, 5.4).
import type { CubeDocument, MemberDocument, MetaDocument } from './core-data.ts';
import type { Query } from './json-query.ts';
import { inOrder, type Cube, type Dimension, type Measure, type Model, type Segment } from './model.ts';
import { isVisible } from './policy.ts';
import type { CoreDataSecurityContext } from './security-context.ts';

type Described = Pick<Dimension, 'title' | 'description'> & { readonly name: string };

function describe(cube: Cube, member: Described): Omit<MemberDocument, 'type'> {
  return {
    name: `${cube.name}.${member.name}`,
    title: `${cube.title} ${member.title}`,
    shortTitle: member.title,
    ...(member.description === undefined ? {} : { description: member.description }),
  };
}

function showMeasure(cube: Cube, measure: Measure): MemberDocument {
  return { ...describe(cube, measure), type: 'number', aggType: measure.aggType };
}

function showDimension(cube: Cube, dimension: Dimension): MemberDocument {
  return { ...describe(cube, dimension), type: dimension.type };
}

function showSegment(cube: Cube, segment: Segment): MemberDocument {
  return { ...describe(cube, segment), type: 'boolean' };
}

/** Returns the cube as clients see it. */
export function showCube(cube: Cube, connectedComponent: number): CubeDocument {
  return {
    name: cube.name,
    type: cube.kind,
    title: cube.title,
    description: cube.description,
    measures: cube.measures.map((one) => showMeasure(cube, one)),
    dimensions: cube.dimensions.map((one) => showDimension(cube, one)),
    segments: cube.segments.map((one) => showSegment(cube, one)),
    connectedComponent,
  };
}

/** Returns public cubes and views with a policy for the context: cubes first, then by name. */
export function visibleCubes(model: Model, context: CoreDataSecurityContext): Cube[] {
  return inOrder(model.cubes.filter((cube) => cube.isPublic && isVisible(cube, context)));
}

/** Returns the document of `/v1/meta`. Cubes do not join, so every cube is its own connected component. */
export function toCubeMeta(model: Model, context: CoreDataSecurityContext): MetaDocument {
  const cubes = visibleCubes(model, context).map((cube, place) => showCube(cube, place + 1));
  return { cubes, compilerId: model.name };
}

type Annotation = Readonly<Record<string, Omit<MemberDocument, 'name'>>>;

function annotate(members: readonly (readonly [string, MemberDocument])[]): Annotation {
  return Object.fromEntries(members.map(([key, { name: _name, ...rest }]) => [key, rest]));
}

/** Returns title and type of every member of the answer. */
export function annotationOf(query: Query): Readonly<Record<string, Annotation>> {
  const { cube } = query;
  const times = query.timeDimensions.flatMap(({ name, member, granularity }) => {
    const shown = showDimension(cube, member);
    const keys = granularity === null ? [] : [`${name}.${granularity}`, name];
    return keys.map((key): [string, MemberDocument] => [key, shown]);
  });
  return {
    measures: annotate(query.measures.map(({ name, member }) => [name, showMeasure(cube, member)])),
    dimensions: annotate(query.dimensions.map(({ name, member }) => [name, showDimension(cube, member)])),
    segments: annotate(query.segments.map(({ name, member }) => [name, showSegment(cube, member)])),
    timeDimensions: annotate(times),
  };
}
