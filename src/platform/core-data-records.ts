// Defines queries and answers of Core Data, and reads the answers (contract 5).
import { isRecord, textOrEmpty, textsIn, textId, type Reader, type Refuse } from './readers.ts';

/** JSON query over the members of the data model; filter values are text. */
export interface LoadQuery {
  measures?: string[];
  dimensions?: string[];
  segments?: string[];
  timeDimensions?: { dimension: string; granularity?: string; dateRange?: string | [string, string] }[];
  filters?: Record<string, unknown>[];
  order?: Record<string, 'asc' | 'desc'> | [string, 'asc' | 'desc'][];
  limit?: number;
  offset?: number;
  /** Also returns the number of rows that the query would have without `limit` and `offset`. */
  total?: boolean;
  timezone?: string;
  ungrouped?: boolean;
  /** Form in which rows are transferred; they are returned as objects in every case. */
  responseFormat?: 'default' | 'compact' | 'columnar';
}

export type DataRow = Record<string, unknown>;

export interface LoadAnswer {
  /** Rows as objects by member name. Numbers are usually text. */
  rows: DataRow[];
  /** Number of rows without limit and offset; present when the query asked for it. */
  total?: number;
  lastRefreshTime?: string;
  /** Titles and types of the members. */
  annotation: Record<string, unknown>;
}

export interface SqlColumn {
  name: string;
  /** Type name of the platform: `String`, `Int64`, `Double` and others. */
  type: string;
}

export interface GeneratedSql {
  sql: string;
  /** Values of the placeholders of `sql`, in order. */
  parameters: unknown[];
}

export interface DryRun {
  /** `regularQuery`, `compareDateRangeQuery` or `blendingQuery`. */
  queryType: string;
  /** The queries as the server understands them, one for each range of a comparison. */
  queries: Record<string, unknown>[];
}

export interface ModelMember {
  name: string;
  title?: string;
  type?: string;
}

/** A cube or view that the token may see, with its visible members. `type` is empty when the platform does not send it. */
export interface ModelEntity {
  name: string;
  type: string;
  title?: string;
  measures: ModelMember[];
  dimensions: ModelMember[];
  segments: ModelMember[];
}

/** Name and type are empty when the platform does not send them. */
export interface DataSource {
  name: string;
  type: string;
  database?: string;
  schema?: string;
}

/** A cube or view by name. `type` is empty when the platform does not send it. */
export interface EntityName {
  /** The name; entities have no other id. */
  id: string;
  name: string;
  type: string;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];
}

/** Returns a list of lists. @throws the error of `refuse` for any other value */
function lists(value: unknown, refuse: Refuse): unknown[][] {
  if (Array.isArray(value) && value.every((entry) => Array.isArray(entry))) return value as unknown[][];
  throw refuse('rows that are not lists');
}

/** Builds a row; `cellOf` returns the cell of the member with this index. */
const toRow = (members: string[], cellOf: (index: number) => unknown): DataRow =>
  Object.fromEntries(members.map((member, index) => [member, cellOf(index)]));

/**
 * Returns rows as objects from any of the three transfer forms (contract 5.1): objects, lists of cells by row
 * (`dataset`), or lists of cells by column (`columns`). @throws the error of `refuse` for any other form
 */
function toRows(data: unknown, refuse: Refuse): DataRow[] {
  if (Array.isArray(data)) return data.filter(isRecord);
  if (!isRecord(data)) throw refuse('an answer without rows');
  const members = texts(data['members']);
  // A cell for each member: very many members and short rows would take far more memory than the answer.
  const requireCells = (cells: unknown[]): void => {
    if (cells.length !== members.length) throw refuse('rows of another length than the list of members');
  };
  if (data['dataset'] !== undefined) {
    return lists(data['dataset'], refuse).map((row) => {
      requireCells(row);
      return toRow(members, (index) => row[index] ?? null);
    });
  }
  // Every column has one cell for each row.
  const columns = lists(data['columns'], refuse);
  if (columns.length > 0) requireCells(columns);
  return (columns[0] ?? []).map((_, row) => toRow(members, (index) => columns[index]?.[row] ?? null));
}

/** Reads one result of `/v1/load` (contract 5.1). */
export function toLoadAnswer(result: unknown, refuse: Refuse): LoadAnswer {
  if (!isRecord(result)) throw refuse('no result');
  const { total, annotation } = result;
  return {
    rows: toRows(result['data'], refuse),
    ...(typeof total === 'number' ? { total } : {}),
    ...textsIn(result, ['lastRefreshTime']),
    annotation: isRecord(annotation) ? annotation : {},
  };
}

/** Returns a list with the member; an empty list for a value without a name. */
function toMember(value: unknown): ModelMember[] {
  if (!isRecord(value) || typeof value['name'] !== 'string') return [];
  return [{ name: value['name'], ...textsIn(value, ['title', 'type']) }];
}

const toMembers = (value: unknown): ModelMember[] => (Array.isArray(value) ? value.flatMap(toMember) : []);

/** Reads a cube or view of the metadata. */
export const readEntity: Reader<ModelEntity> = (body, refuse) => {
  if (!isRecord(body) || typeof body['name'] !== 'string') throw refuse('an entity without name');
  return {
    name: body['name'],
    type: textOrEmpty(body['type']),
    ...textsIn(body, ['title']),
    measures: toMembers(body['measures']),
    dimensions: toMembers(body['dimensions']),
    segments: toMembers(body['segments']),
  };
};

export const readEntityName: Reader<EntityName> = (body, refuse) => {
  const name = isRecord(body) ? textId(body['name']) : undefined;
  if (!isRecord(body) || name === undefined) throw refuse('an entity without name');
  return { id: name, name, type: textOrEmpty(body['type']) };
};

/** Reads the answer of `/v1/sql`: `{ sql: { sql: [text, parameters] } }`. */
export const readGeneratedSql: Reader<GeneratedSql> = (body, refuse) => {
  const outer = isRecord(body) && isRecord(body['sql']) ? body['sql']['sql'] : undefined;
  const [sql, parameters] = Array.isArray(outer) ? (outer as unknown[]) : [];
  if (typeof sql !== 'string') throw refuse('no SQL');
  return { sql, parameters: Array.isArray(parameters) ? parameters : [] };
};

export const readDryRun: Reader<DryRun> = (body, refuse) => {
  const { queryType, normalizedQueries } = isRecord(body) ? body : {};
  if (typeof queryType !== 'string' || !Array.isArray(normalizedQueries)) throw refuse('no checked query');
  return { queryType, queries: normalizedQueries.filter(isRecord) };
};

export const readDataSources: Reader<DataSource[]> = (body, refuse) => {
  const data = isRecord(body) && isRecord(body['data']) ? body['data']['data_sources'] : undefined;
  if (!Array.isArray(data)) throw refuse('no list of data sources');
  return data.filter(isRecord).map((entry) => ({
    name: textId(entry['name']) ?? '',
    type: textOrEmpty(entry['type']),
    ...textsIn(entry, ['database', 'schema']),
  }));
};
