// Describes members for `/v1/meta`, for the annotation of an answer and for entities (contract 5.3, 5.4).
import type { CubeDocument, MemberDocument, MetaDocument, SegmentDocument } from './documents.ts';
import { GRANULARITIES } from './granularity.ts';
import type { Query } from './json-query.ts';
import { inOrder, type Cube, type Dimension, type Measure, type Model, type Segment } from './model.ts';
import { visiblePart } from './policy.ts';
import type { CoreDataSecurityContext } from './security-context.ts';

type Described = Pick<Dimension, 'title' | 'description' | 'from' | 'alias'> & { readonly name: string };

function describe(cube: Cube, member: Described): SegmentDocument {
  return {
    name: `${cube.name}.${member.name}`,
    title: `${cube.title} ${member.title}`,
    shortTitle: member.title,
    ...(member.description === undefined ? {} : { description: member.description }),
  };
}

// Properties of Cube that are the same for every measure (DRILLS), cube (NO_FOLDERS), and member or cube (SHOWN), because the
// sandbox's models do not use them.
const DRILLS = { drillMembers: [], drillMembersGrouped: { measures: [], dimensions: [] } };
const NO_FOLDERS = { hierarchies: [], folders: [], nestedFolders: [] };
const SHOWN = { isVisible: true, public: true };
/** Cube's default format of numbers, in the notation of d3-format. */
const NUMBER = { name: 'number', specifier: ',.2~f' };

/** Returns `aliasMember`: the member of a cube that a member of a view shows. */
function aliasOf(cube: Cube, { name, from, alias }: Described): { aliasMember?: string } {
  if (alias !== undefined) return { aliasMember: alias };
  // The cube of this member, or the one cube that the whole view shows.
  const source = from ?? cube.base;
  return cube.kind === 'view' && source !== undefined ? { aliasMember: `${source}.${name}` } : {};
}

function showMeasure(cube: Cube, measure: Measure): MemberDocument {
  return {
    ...describe(cube, measure),
    type: 'number',
    aggType: measure.aggType,
    cumulative: false,
    cumulativeTotal: false,
    ...DRILLS,
    ...aliasOf(cube, measure),
    ...SHOWN,
    formatDescription: NUMBER,
  };
}

function showDimension(cube: Cube, dimension: Dimension): MemberDocument {
  const { type, isKey, granularities } = dimension;
  return {
    ...describe(cube, dimension),
    type,
    primaryKey: isKey ?? false,
    suggestFilterValues: true,
    ...aliasOf(cube, dimension),
    ...SHOWN,
    ...(type === 'number' ? { formatDescription: NUMBER } : {}),
    ...(granularities === undefined ? {} : { granularities }),
  };
}

const showSegment = (cube: Cube, segment: Segment) => ({ ...describe(cube, segment), ...SHOWN });

/** Returns the cube as clients see it. @param connectedComponent number of the cube's group of joined cubes */
export function showCube(cube: Cube, connectedComponent: number): CubeDocument {
  return {
    name: cube.name,
    type: cube.kind,
    title: cube.title,
    ...(cube.description === undefined ? {} : { description: cube.description }),
    ...SHOWN,
    ...NO_FOLDERS,
    measures: cube.measures.map((measure) => showMeasure(cube, measure)),
    dimensions: cube.dimensions.map((dimension) => showDimension(cube, dimension)),
    segments: cube.segments.map((segment) => showSegment(cube, segment)),
    connectedComponent,
  };
}

/** Returns public cubes and views with a member that the context may see: cubes first, then by name. */
export function visibleCubes(model: Model, context: CoreDataSecurityContext): Cube[] {
  const visible = model.cubes.filter(({ isPublic }) => isPublic).map((cube) => visiblePart(cube, context));
  return inOrder(
    visible.filter(
      ({ measures, dimensions, segments }) => measures.length + dimensions.length + segments.length > 0,
    ),
  );
}

/** Returns the document of `/v1/meta`. */
export function toCubeMeta(model: Model, context: CoreDataSecurityContext, onlyViews = false): MetaDocument {
  const cubes = visibleCubes(model, context)
    .filter(({ kind }) => !onlyViews || kind === 'view')
    // Joins are not followed here, so each cube is a `connectedComponent` of its own.
    .map((cube, index) => showCube(cube, index + 1));
  return { cubes, compilerId: model.name };
}

type Annotation = Readonly<Record<string, unknown>>;

const annotateMeasure = (cube: Cube, measure: Measure) => {
  const { name: _name, ...described } = describe(cube, measure);
  return { ...described, type: 'number', ...DRILLS };
};

const annotateDimension = (cube: Cube, dimension: Dimension) => {
  const { name: _name, ...described } = describe(cube, dimension);
  return { ...described, type: dimension.type };
};

/**
 * Returns the entries of time dimensions with a granularity, under `<name>.<granularity>` and `<name>`. A dimension of the
 * query has the entry `<name>` among the dimensions already.
 */
const annotateTimes = (query: Query): [string, Annotation][] =>
  query.timeDimensions.flatMap(({ cube, name, member, granularity }): [string, Annotation][] => {
    if (granularity === null) return [];
    const shown = annotateDimension(cube, member);
    const step = GRANULARITIES.some((unit) => unit === granularity)
      ? { name: granularity, title: granularity, interval: `1 ${granularity}` }
      : member.granularities?.find((custom) => custom.name === granularity);
    const isDimension = query.dimensions.some((dimension) => dimension.name === name);
    const entries: [string, Annotation][] = [[`${name}.${granularity}`, { ...shown, granularity: step }]];
    return isDimension ? entries : [...entries, [name, shown]];
  });

/** Returns title and type of the members of the answer, by kind and name. Segments have titles alone; private ones are left out. */
export function annotationOf(query: Query): Readonly<Record<string, Annotation>> {
  return {
    measures: Object.fromEntries(
      query.measures.map(({ cube, name, member }) => [name, annotateMeasure(cube, member)]),
    ),
    dimensions: Object.fromEntries(
      query.dimensions.map(({ cube, name, member }) => [name, annotateDimension(cube, member)]),
    ),
    segments: Object.fromEntries(
      query.segments
        .filter(({ cube, member }) => cube.isPublic && member.isPrivate !== true)
        .map(({ cube, name, member: { title } }) => [
          name,
          { title: `${cube.title} ${title}`, shortTitle: title },
        ]),
    ),
    timeDimensions: Object.fromEntries(annotateTimes(query)),
  };
}
