// The operations of the workspace (contract 4.7).
import { BOTH, CURSOR, type OperationLine } from './operation-text.ts';

const DEPLOYMENT = '/api/v1/deployments/{deploymentId}';

export const WORKSPACE_LINES: readonly OperationLine[] = [
  [
    `get ${DEPLOYMENT}/folders`,
    'listFolders',
    'Folders of one level',
    { query: ['parentId', ...BOTH], answer: 'FolderList' },
  ],
  [
    `post ${DEPLOYMENT}/folders`,
    'createFolder',
    'Create a folder',
    { body: 'FolderInput', answer: 'Folder' },
  ],
  [
    `put ${DEPLOYMENT}/folders/{folderId}`,
    'updateFolder',
    'Rename or reorder a folder',
    { body: 'FolderUpdate', answer: 'Folder' },
  ],
  [
    `delete ${DEPLOYMENT}/folders/{folderId}`,
    'deleteFolder',
    'Delete a folder; what it holds returns to the root',
    { status: 204 },
  ],
  [
    `get ${DEPLOYMENT}/folders/{folderId}/ancestors`,
    'listAncestors',
    'The folders above a folder, outermost first',
  ],
  [
    `get ${DEPLOYMENT}/workbooks`,
    'listWorkbooks',
    'Workbooks',
    { query: ['folderId', ...BOTH], answer: 'WorkbookList' },
  ],
  [
    `post ${DEPLOYMENT}/workbooks`,
    'createWorkbook',
    'Create a workbook',
    { body: 'WorkbookInput', answer: 'WorkspaceItem' },
  ],
  [`get ${DEPLOYMENT}/workbooks/{workbookId}`, 'readWorkbook', 'One workbook', { answer: 'WorkspaceItem' }],
  [
    `get ${DEPLOYMENT}/workbooks/{workbookId}/embed-access`,
    'readEmbedAccess',
    'Who may see the embedded dashboard',
    { answer: 'EmbedAccess' },
  ],
  [
    `put ${DEPLOYMENT}/workbooks/{workbookId}/embed-access`,
    'updateEmbedAccess',
    'Change who may see the embedded dashboard',
    { body: 'EmbedAccess', answer: 'EmbedAccess' },
  ],
  [
    `get ${DEPLOYMENT}/reports`,
    'listReports',
    'Reports',
    { query: ['workbookId', 'folderId', 'search', ...BOTH], answer: 'ReportList' },
  ],
  [
    `post ${DEPLOYMENT}/reports`,
    'createReport',
    'Create a report',
    { body: 'ReportInput', answer: 'Report', mayConflict: true },
  ],
  [
    `get ${DEPLOYMENT}/workspace`,
    'listWorkspace',
    'What lies in a folder, folders first',
    { query: ['folderId', 'types', 'search', ...CURSOR], answer: 'Feed' },
  ],
  [
    `post ${DEPLOYMENT}/workspace/move`,
    'moveItem',
    'Move a folder, workbook or report',
    { body: 'MoveInput', answer: 'WorkspaceItem' },
  ],
];
