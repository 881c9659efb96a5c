// Creates folders, workbooks and reports, for public calls and fixtures. The caller checks the rights.
import { createHash } from 'node:crypto';
import { textOrNull, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { CurrentState } from '../state.ts';
import { checkedDashboards } from './dashboards.ts';
import { readInteger, readName, readObject, requireFolder, UNTITLED } from './inputs.ts';
import type { FolderRecord, ItemRecord, ReportRecord, WorkbookRecord } from './records.ts';
import { subFoldersOf } from './tree.ts';

/** Deployment and owner of a new item. */
export interface Placing {
  readonly deploymentId: string;
  readonly ownerId: number;
}

/** Properties that are the same for all kinds of items. */
type Common = Pick<
  ItemRecord,
  'id' | 'deploymentId' | 'ownerId' | 'updatedById' | 'createdAtMs' | 'updatedAtMs'
>;

function common(current: CurrentState, { deploymentId, ownerId }: Placing): Common {
  return {
    id: current.state.workspace.nextId(),
    deploymentId,
    ownerId,
    updatedById: ownerId,
    createdAtMs: current.nowMs,
    updatedAtMs: current.nowMs,
  };
}

function store<T extends ItemRecord>(current: CurrentState, item: T): T {
  current.state.workspace.put(item);
  return item;
}

/** Returns the checked properties of a new folder; throws 400. */
export function readNewFolder(source: SandboxJsonObject): {
  name: string;
  parentId: number | null;
  position: number | null;
} {
  const name = readName(source);
  if (name === undefined) throw new SandboxProblem(400, 'name is required');
  return { name, parentId: readInteger(source, 'parentId'), position: readInteger(source, 'position') };
}

/** Stores a folder at its `position`, by default after its siblings. */
export function addFolder(
  current: CurrentState,
  placing: Placing,
  input: ReturnType<typeof readNewFolder>,
): FolderRecord {
  const { state } = current;
  const parent = requireFolder(state, placing.deploymentId, input.parentId);
  const folderId = parent?.id ?? null;
  const neighbours = subFoldersOf(state, placing.deploymentId, folderId);
  // Without siblings the position is 0.
  const position = input.position ?? Math.max(-1, ...neighbours.map((folder) => folder.position)) + 1;
  return store(current, {
    ...common(current, placing),
    type: 'FOLDER',
    name: input.name,
    folderId,
    position,
  });
}

/** Returns the checked properties of a new workbook; throws 400. */
export function readNewWorkbook(source: SandboxJsonObject) {
  return {
    name: readName(source) ?? UNTITLED,
    folderId: readInteger(source, 'folderId'),
    slug: textOrNull(source, 'slug'),
    meta: readObject(source, 'meta') ?? {},
    calculatedFields: readObject(source, 'calculatedFields') ?? {},
    ...checkedDashboards(source),
  };
}

/** Stores a workbook; 404 for an unknown folder. */
export function addWorkbook(
  current: CurrentState,
  placing: Placing,
  input: ReturnType<typeof readNewWorkbook>,
): WorkbookRecord {
  requireFolder(current.state, placing.deploymentId, input.folderId);
  const allowEmbed = input.publishedDashboard?.['allowEmbed'] === true;
  return store(current, {
    ...common(current, placing),
    type: 'WORKBOOK',
    ...input,
    embedAccess: { allowEmbed, allEmbedUsers: false, tenants: [] },
  });
}

/** Returns the checked properties of a new report; throws 400. */
export function readNewReport(source: SandboxJsonObject) {
  const publicId = textOrNull(source, 'publicId');
  if (publicId !== null && !/^[0-9A-Za-z]{12}$/.test(publicId)) {
    throw new SandboxProblem(400, 'publicId must be 12 letters and digits');
  }
  const title = readName(source, 'title') ?? null;
  return {
    name: readName(source) ?? title ?? UNTITLED,
    title,
    publicId,
    description: textOrNull(source, 'description'),
    folderId: readInteger(source, 'folderId'),
    workbookId: readInteger(source, 'workbookId'),
    sqlQuery: textOrNull(source, 'sqlQuery'),
    jsonQuery: textOrNull(source, 'jsonQuery'),
    meta: readObject(source, 'meta'),
  };
}

/** Returns the workbook with that id in that deployment. @throws 404 */
export function requireWorkbook(current: CurrentState, deploymentId: string, id: number): WorkbookRecord {
  const item = current.state.workspace.get(id);
  if (item?.type !== 'WORKBOOK' || item.deploymentId !== deploymentId) {
    throw new SandboxProblem(404, 'Workbook not found');
  }
  return item;
}

/** Stores a report; 404 for an unknown folder or workbook, 409 for a `publicId` in use. */
export function addReport(
  current: CurrentState,
  placing: Placing,
  input: ReturnType<typeof readNewReport>,
): ReportRecord {
  const { state } = current;
  requireFolder(state, placing.deploymentId, input.folderId);
  if (input.workbookId !== null) requireWorkbook(current, placing.deploymentId, input.workbookId);
  if (input.publicId !== null && state.workspace.find('publicId', input.publicId).length > 0) {
    throw new SandboxProblem(409, 'publicId is already taken');
  }
  const shared = common(current, placing);
  // Derived from the id, so that the same seed gives the same public ids.
  const publicId =
    input.publicId ?? createHash('sha256').update(`report ${shared.id}`).digest('hex').slice(0, 12);
  return store(current, { ...shared, type: 'REPORT', ...input, publicId });
}
