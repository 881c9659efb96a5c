// Serves the metadata addresses beside `/v1/meta`: data sources, entities, and one entity with its lineage
// (contract 5.4).
import type { Request } from 'express';
import type { SandboxSettings } from '../settings.ts';
import { SandboxProblem } from '../problem.ts';
import { showCube, visibleCubes } from './annotations.ts';
import type { CoreDataSecurityContext } from './security-context.ts';
import type { Model } from './model.ts';

/** Handles `GET /v1/data-sources`. */
export function listDataSources({ name }: Model): unknown {
  return { data: { data_sources: [{ name: 'default', type: 'duckdb', database: name, schema: 'main' }] } };
}

/** Returns a query parameter as a whole number, `absent` without it; throws SandboxProblem 400 (ASSUMED-49). */
function countIn(request: Request, name: string, absent: number): number {
  const sent = Object.hasOwn(request.query, name) ? request.query[name] : undefined;
  const text: unknown = Array.isArray(sent) ? sent[0] : sent;
  if (text === undefined) return absent;
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw new SandboxProblem(400, `${name} must be a whole number`);
  return Number(text);
}

/** Handles `GET /v1/entities?offset&limit`: cubes, then views, each by name. */
export function listEntities(
  request: Request,
  settings: SandboxSettings,
  model: Model,
  context: CoreDataSecurityContext,
): unknown {
  const offset = countIn(request, 'offset', 0);
  const limit = Math.min(countIn(request, 'limit', settings.pageDefault), settings.pageCap);
  const cubes = visibleCubes(model, context);
  const entities = cubes.slice(offset, offset + limit).map(({ kind, name }) => ({ type: kind, name }));
  return { data: { entities }, pagination: { offset, limit, total: cubes.length } };
}

/** Handles `GET /v1/entities/{name}`; throws SandboxProblem 404 for an entity that the context may not see. */
export function showEntity(model: Model, context: CoreDataSecurityContext, name: string): unknown {
  const cube = visibleCubes(model, context).find((one) => one.name === name);
  if (!cube) throw new SandboxProblem(404, 'Entity not found');
  // The 1 may be any number, because the answer leaves the connected component out.
  const { title, description, measures, dimensions } = showCube(cube, 1);
  return {
    data: {
      type: cube.kind,
      name: cube.name,
      title,
      ...(description === undefined ? {} : { description }),
      table_references: cube.tables.map((table) => ({ data_source: 'default', schema: 'main', table })),
      cube_references: cube.cubes,
      measures,
      dimensions,
    },
  };
}
