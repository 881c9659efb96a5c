// Reads and writes folders, workbooks and reports, the workspace feed and moves (contract 4.7).
import { isRecord, textsIn, listOf, textId, type Reader } from './readers.ts';
import type { CallContext } from './errors.ts';
import { readDashboards, type WorkbookDashboards } from './dashboards.ts';
import { identified } from './fields.ts';
import { toWireId, type CallOptions, type Send } from './request.ts';
import { listRest } from './rest-list.ts';

export type ItemType = 'FOLDER' | 'WORKBOOK' | 'REPORT';

/** A folder, workbook or report. */
export interface WorkspaceItem extends WorkbookDashboards {
  id: string;
  type: ItemType;
  name: string;
  /** Id of the parent folder; null = the root of the workspace. */
  folderId: string | null;
  /** Parent folders, outermost first. */
  folderPath: { id: string; name: string }[];
  /** Account id of the owner; absent when that user was deleted. */
  ownerId?: string;
  createdAt?: string;
  updatedAt?: string;
  /** The record as received. */
  record: Readonly<Record<string, unknown>>;
}

export interface FeedFilter {
  /** Absent = the root. */
  folderId?: string;
  types?: ItemType[];
  /** Text in the name; searches all folders. */
  search?: string;
  orderByField?: 'updated_at' | 'created_at' | 'name' | 'viewer_last_viewed_at';
  orderByDirection?: 'ASC' | 'DESC';
}

export interface ReportInput {
  name?: string;
  title?: string;
  folderId?: string | null;
  workbookId?: string | null;
  sqlQuery?: string;
  jsonQuery?: string;
}

/** Access to the published dashboard of a workbook when it is embedded. */
export interface DashboardAccess {
  allowEmbed: boolean;
  allEmbedUsers: boolean;
  /** Names of embed tenants. */
  tenants: string[];
}

const BASE = '/api/v1/deployments/{deploymentId}';
const EMBED = 'workbooks/{workbookId}/embed-access';

/** Returns a list with the folder, or an empty list for a value that is not a folder. */
function pathEntry(entry: unknown): { id: string; name: string }[] {
  const id = isRecord(entry) ? textId(entry['id']) : undefined;
  return isRecord(entry) && id !== undefined ? [{ id, name: String(entry['name']) }] : [];
}

const readItem: Reader<WorkspaceItem> = (body, refuse) => {
  const fields = identified(body, 'workspace item', refuse);
  const { folderPath: path, user } = fields.all;
  const ownerId = isRecord(user) ? textId(user['id']) : undefined;
  return {
    id: fields.id,
    type: fields.text('type') as ItemType,
    name: fields.text('name'),
    folderId: fields.optionalId('folderId') ?? fields.optionalId('parentId') ?? null,
    folderPath: Array.isArray(path) ? path.flatMap(pathEntry) : [],
    ...(ownerId === undefined ? {} : { ownerId }),
    ...textsIn(fields.all, ['createdAt', 'updatedAt']),
    ...readDashboards(fields.all),
    record: fields.all,
  };
};

const readAccess: Reader<DashboardAccess> = (body, refuse) => {
  if (!isRecord(body)) throw refuse('no embed access');
  const { allowEmbed, allEmbedUsers, tenants } = body;
  return {
    allowEmbed: allowEmbed === true,
    allEmbedUsers: allEmbedUsers === true,
    tenants: Array.isArray(tenants) ? tenants.map(String) : [],
  };
};

const isId = (name: string): boolean => name === 'id' || name.endsWith('Id');

/** Returns a copy with the ids as integers; null and undefined stay. @throws PlatformArgument for an id that is no whole number */
function withWireIds<T>(input: object, call: CallContext): Record<string, T | number> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]: [string, T]) => [
      name,
      isId(name) && value !== null && value !== undefined ? toWireId(name, String(value), call) : value,
    ]),
  );
}

export type PlatformWorkspace = ReturnType<typeof createWorkspace>;

/** Reads and writes the workspace over `send`; every function throws PlatformError (errors.ts). */
export function createWorkspace(send: Send) {
  /** Yields the items of a list. @param path route below that of the deployment (BASE) */
  async function* list(
    deploymentId: string,
    path: string,
    filter: object,
    options: CallOptions | undefined,
  ): AsyncGenerator<WorkspaceItem, void, undefined> {
    const route = `${BASE}/${path}`;
    const query = withWireIds<string | undefined>(filter, {
      method: 'GET',
      route,
      correlationId: options?.correlationId,
    });
    yield* listRest(send, { route, params: { deploymentId }, query, read: readItem }, options);
  }

  /** Sends one request. @param path route below that of the deployment (BASE) */
  const call = async <T>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    params: Record<string, string>,
    read: Reader<T> | 'ignore',
    options: CallOptions | undefined,
    body?: object,
  ): Promise<T> => {
    const route = `${BASE}/${path}`;
    return send(
      {
        family: 'rest',
        method,
        route,
        params,
        body: body && withWireIds(body, { method, route, correlationId: options?.correlationId }),
        read,
      },
      options,
    );
  };

  return {
    /**
     * Yields the items of one folder, or with `search` the matching items of all folders; folders first. Items that
     * the token's owner may not see are left out.
     */
    feed: (deploymentId: string, { types, ...filter }: FeedFilter = {}, options?: CallOptions) =>
      list(deploymentId, 'workspace', { ...filter, types: types?.join(',') }, options),
    /** Yields the folders of one level by position; `parentId` absent = the root. */
    folders: (deploymentId: string, parentId?: string, options?: CallOptions) =>
      list(deploymentId, 'folders', { parentId }, options),
    /** Not idempotent: two folders may have the same name. */
    createFolder: (
      deploymentId: string,
      input: { name: string; parentId?: string | null; position?: number },
      options?: CallOptions,
    ) => call('POST', 'folders', { deploymentId }, readItem, options, input),
    /** Changes the name or position; absent properties stay. */
    updateFolder: (
      deploymentId: string,
      folderId: string,
      change: { name?: string; position?: number },
      options?: CallOptions,
    ) => call('PUT', 'folders/{folderId}', { deploymentId, folderId }, readItem, options, change),
    /** Deletes a folder and moves its items to the root; PlatformResponse 400 while it has sub-folders. */
    deleteFolder: (deploymentId: string, folderId: string, options?: CallOptions): Promise<void> =>
      call('DELETE', 'folders/{folderId}', { deploymentId, folderId }, 'ignore', options),
    /** Returns the path from the root to the folder, both included. */
    ancestors: (deploymentId: string, folderId: string, options?: CallOptions) =>
      call('GET', 'folders/{folderId}/ancestors', { deploymentId, folderId }, listOf(readItem), options),
    /** Yields the workbooks of one folder, or of the deployment. */
    workbooks: (deploymentId: string, filter: { folderId?: string } = {}, options?: CallOptions) =>
      list(deploymentId, 'workbooks', filter, options),
    workbook: (deploymentId: string, workbookId: string, options?: CallOptions) =>
      call('GET', 'workbooks/{workbookId}', { deploymentId, workbookId }, readItem, options),
    createWorkbook: (
      deploymentId: string,
      input: { name?: string; folderId?: string | null; meta?: Record<string, unknown> } = {},
      options?: CallOptions,
    ) => call('POST', 'workbooks', { deploymentId }, readItem, options, input),
    embedAccess: (deploymentId: string, workbookId: string, options?: CallOptions) =>
      call('GET', EMBED, { deploymentId, workbookId }, readAccess, options),
    /** Idempotent; absent properties stay. */
    setEmbedAccess: (
      deploymentId: string,
      workbookId: string,
      change: Partial<DashboardAccess>,
      options?: CallOptions,
    ) => call('PUT', EMBED, { deploymentId, workbookId }, readAccess, options, change),
    /** Yields the reports of one folder or workbook, or of the deployment. */
    reports: (
      deploymentId: string,
      filter: { folderId?: string; workbookId?: string; search?: string } = {},
      options?: CallOptions,
    ) => list(deploymentId, 'reports', filter, options),
    createReport: (deploymentId: string, input: ReportInput = {}, options?: CallOptions) =>
      call('POST', 'reports', { deploymentId }, readItem, options, input),
    /**
     * Moves an item to a folder; `folderId` null = the root. Idempotent. PlatformResponse 400 when a folder would be
     * too deep or inside itself, 403 without the right, 404 for unknown ids.
     */
    move: (
      deploymentId: string,
      item: { type: ItemType; id: string; folderId: string | null },
      options?: CallOptions,
    ) => call('POST', 'workspace/move', { deploymentId }, readItem, options, item),
  };
}
