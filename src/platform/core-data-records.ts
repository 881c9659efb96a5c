// What Core Data is asked and answers (contract 5), and the reading of its answers.
import { isRecord } from './answer.ts';
import { textId, type Reader, type Refuse } from './readers.ts';

/** A JSON query over the members of the data model; values of filters are text. */
export interface LoadQuery {
  measures?: string[];
  dimensions?: string[];
  segments?: string[];
  timeDimensions?: { dimension: string; granularity?: string; dateRange?: string | [string, string] }[];
  filters?: Record<string, unknown>[];
  order?: Record<string, 'asc' | 'desc'> | [string, 'asc' | 'desc'][];
  limit?: number;
  offset?: number;
  /** Ask for the number of rows without limit. */
  total?: boolean;
  timezone?: string;
  ungrouped?: boolean;
  /** How rows travel; they are read into objects whatever it is. */
  responseFormat?: 'default' | 'compact' | 'columnar';
}

export type DataRow = Record<string, unknown>;

export interface LoadAnswer {
  /** By member name. Numbers usually come as text. */
  rows: DataRow[];
  /** Rows without limit and offset, when it was asked for. */
  total?: number;
  lastRefreshTime?: string;
  /** Titles and types of the members. */
  annotation: Record<string, unknown>;
}

export interface SqlColumn {
  name: string;
  /** As the platform says it: `String`, `Int64`, `Double` and others. */
  type: string;
}

export interface ModelMember {
  name: string;
  title?: string;
  type?: string;
}

/** A cube or view that the token may see, with the members that it may see. */
export interface ModelEntity {
  name: string;
  type: string;
  title?: string;
  measures: ModelMember[];
  dimensions: ModelMember[];
  segments: ModelMember[];
}

export interface DataSource {
  name: string;
  type: string;
  database?: string;
  schema?: string;
}

export interface EntityName {
  /** Its name: entities have no other id. */
  id: string;
  name: string;
  type: string;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];
}

function lists(value: unknown, refuse: Refuse): unknown[][] {
  if (Array.isArray(value) && value.every((entry) => Array.isArray(entry))) return value as unknown[][];
  throw refuse('rows that are no lists');
}

const named = (members: string[], cells: (place: number) => unknown): DataRow =>
  Object.fromEntries(members.map((member, place) => [member, cells(place)]));

/** Rows as objects out of all three forms in which they travel (contract 5.1). */
export function toRows(data: unknown, refuse: Refuse): DataRow[] {
  if (Array.isArray(data)) return data.filter(isRecord);
  if (!isRecord(data)) throw refuse('an answer without rows');
  const members = texts(data['members']);
  if (data['dataset'] !== undefined) {
    return lists(data['dataset'], refuse).map((row) => named(members, (place) => row[place] ?? null));
  }
  const columns = lists(data['columns'], refuse);
  return (columns[0] ?? []).map((_, row) => named(members, (place) => columns[place]?.[row] ?? null));
}

/** One result of `/v1/load`. */
export function toLoadAnswer(result: unknown, refuse: Refuse): LoadAnswer {
  if (!isRecord(result)) throw refuse('no result');
  const { total, lastRefreshTime, annotation } = result;
  return {
    rows: toRows(result['data'], refuse),
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof lastRefreshTime === 'string' ? { lastRefreshTime } : {}),
    annotation: isRecord(annotation) ? annotation : {},
  };
}

function toMember(value: unknown): ModelMember[] {
  if (!isRecord(value) || typeof value['name'] !== 'string') return [];
  const { name, title, type } = value;
  return [
    {
      name,
      ...(typeof title === 'string' ? { title } : {}),
      ...(typeof type === 'string' ? { type } : {}),
    },
  ];
}

const toMembers = (value: unknown): ModelMember[] => (Array.isArray(value) ? value.flatMap(toMember) : []);

/** A cube or view as metadata shows it. */
export const readEntity: Reader<ModelEntity> = (body, refuse) => {
  if (!isRecord(body) || typeof body['name'] !== 'string') throw refuse('an entity without name');
  const { name, title, type } = body;
  return {
    name,
    type: typeof type === 'string' ? type : '',
    ...(typeof title === 'string' ? { title } : {}),
    measures: toMembers(body['measures']),
    dimensions: toMembers(body['dimensions']),
    segments: toMembers(body['segments']),
  };
};

export const readEntityName: Reader<EntityName> = (body, refuse) => {
  const name = isRecord(body) ? textId(body['name']) : undefined;
  if (!isRecord(body) || name === undefined) throw refuse('an entity without name');
  return { id: name, name, type: typeof body['type'] === 'string' ? body['type'] : '' };
};

export const readDataSources: Reader<DataSource[]> = (body, refuse) => {
  const data = isRecord(body) && isRecord(body['data']) ? body['data']['data_sources'] : undefined;
  if (!Array.isArray(data)) throw refuse('no list of data sources');
  return data.filter(isRecord).map((entry) => ({
    name: String(textId(entry['name'])),
    type: typeof entry['type'] === 'string' ? entry['type'] : '',
    ...(typeof entry['database'] === 'string' ? { database: entry['database'] } : {}),
    ...(typeof entry['schema'] === 'string' ? { schema: entry['schema'] } : {}),
  }));
};
