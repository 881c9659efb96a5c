// Defines the records of the workspace. Folders, workbooks and reports share one table and one id sequence, so
// that an id identifies one item of any kind (contract 4.7, ASSUMED-74).
import type { SandboxJsonObject } from '../json.ts';
import type { RecentChangesDeps } from '../recent-changes.ts';
import { createTable, type MemoryTable } from '../table.ts';

export type WorkspaceItemType = 'FOLDER' | 'WORKBOOK' | 'REPORT';
export const ITEM_TYPES: readonly WorkspaceItemType[] = ['FOLDER', 'WORKBOOK', 'REPORT'];

/** The part that folders, workbooks and reports share. */
interface SharedFields {
  readonly id: number;
  readonly deploymentId: string;
  readonly name: string;
  /** Id of the parent folder; null = the root of the workspace. */
  readonly folderId: number | null;
  readonly ownerId: number;
  readonly updatedById: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface FolderRecord extends SharedFields {
  readonly type: 'FOLDER';
  /** Position among the folders of the same parent, from 0; several folders may have the same position. */
  readonly position: number;
}

/** Access to the published dashboard of a workbook when it is embedded (contract 10). */
export interface EmbedAccess {
  readonly allowEmbed: boolean;
  readonly allEmbedUsers: boolean;
  readonly tenants: readonly string[];
}

/** The dashboards of a workbook, validated on input (dashboard-schemas.ts); null = none. */
export interface Dashboards {
  /** DashboardConfig of the specification (contract 4.8), like dashboardPublished. */
  readonly dashboardDraft: SandboxJsonObject | null;
  readonly dashboardPublished: SandboxJsonObject | null;
  /** Dashboard of the specification: a DashboardConfig with snapshots of its reports. */
  readonly publishedDashboard: SandboxJsonObject | null;
}

export interface WorkbookRecord extends SharedFields, Dashboards {
  readonly type: 'WORKBOOK';
  // The next three are stored and returned as sent.
  readonly slug: string | null;
  readonly meta: SandboxJsonObject;
  readonly calculatedFields: SandboxJsonObject;
  readonly embedAccess: EmbedAccess;
}

export interface ReportRecord extends SharedFields {
  readonly type: 'REPORT';
  /** Twelve letters and digits, unique in the tenant. */
  readonly publicId: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly workbookId: number | null;
  readonly sqlQuery: string | null;
  readonly jsonQuery: string | null;
  readonly meta: SandboxJsonObject | null;
}

export type ItemRecord = FolderRecord | WorkbookRecord | ReportRecord;

/** Rights from weak to strong: `manage` includes `edit`, and `edit` includes `read` (ASSUMED-76). */
export type WorkspaceAction = 'read' | 'edit' | 'manage';
export const ACTION_KINDS: readonly WorkspaceAction[] = ['read', 'edit', 'manage'];

/** A right of one user on one item or deployment. Rights on deployments are evaluated in control-plane/reach.ts. */
export interface Grant {
  readonly id: number;
  readonly userId: number;
  readonly type: WorkspaceItemType | 'DEPLOYMENT';
  /** Id of the item, or of the deployment. */
  readonly itemId: number;
  readonly action: WorkspaceAction;
}

/** Returns the index key of all items directly in a folder, or in the root (null), of a deployment. */
export function parentKey(deploymentId: string, folderId: number | null): string {
  return `${deploymentId}/${folderId ?? 'root'}`;
}

/** Returns the index key of a user's grants on one item. */
export function grantKey(userId: number, type: Grant['type'], itemId: number): string {
  return `${userId}/${type}/${itemId}`;
}

export function createItems(deps: RecentChangesDeps): MemoryTable<ItemRecord> {
  return createTable<ItemRecord>(
    {
      parent: (item) => [parentKey(item.deploymentId, item.folderId)],
      kind: (item) => [`${item.deploymentId}/${item.type}`],
      publicId: (item) => (item.type === 'REPORT' ? [item.publicId] : []),
    },
    deps,
  );
}

/** Returns the index key of all grants on one item. */
export function itemGrantsKey(type: Grant['type'], itemId: number): string {
  return `${type}/${itemId}`;
}

export function createGrants(deps: RecentChangesDeps): MemoryTable<Grant> {
  return createTable<Grant>(
    {
      subject: (grant) => [grantKey(grant.userId, grant.type, grant.itemId)],
      user: (grant) => [String(grant.userId)],
      item: (grant) => [itemGrantsKey(grant.type, grant.itemId)],
    },
    deps,
  );
}
