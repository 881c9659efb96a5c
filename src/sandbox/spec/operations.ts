// Describes the operations of the OpenAPI document. Each line of a table is one operation:
//
//   <method> <path> <operation id>(<schema of the body> ?<query parameter> …) <answer>: <summary>
//
// The answer may begin with the status of a success, 200 by default. The name of its schema, or its media type if it
// is not JSON, follows; without it the answer is any JSON. `or 409` marks an operation that refuses a value that is in use.

/** An operation of a table. */
export interface OperationText {
  readonly id: string;
  readonly summary: string;
  /** Names of query parameters in PARAMETERS of document.ts. */
  readonly query?: readonly string[];
  /** Name of the schema of the request body. */
  readonly body?: string | undefined;
  /** Name of the schema of the answer, or a media type that is not JSON; any JSON when absent. */
  readonly answer?: string | undefined;
  /** Status of a success; default 200. */
  readonly status?: string | undefined;
  /** The operation returns 409 for a value that is in use. */
  readonly mayConflict?: boolean;
}

const SCIM = '/api/scim/v2';
const SCIM_LIST = '?filter ?startIndex ?count ?excludedAttributes';
const DEPLOYMENT = '/api/v1/deployments/{deploymentId}';
const BUILD = '/build/api/v1/deployments/{deploymentId}';
const CURSOR = '?first ?after';
/** Query parameters of both list styles of the Platform API. */
const PAGES = `?offset ?limit ${CURSOR}`;

const TABLES = [
  // SCIM (contract 2).
  `
get ${SCIM}/Users listScimUsers(${SCIM_LIST}) ScimUserList: Find users
post ${SCIM}/Users createScimUser(ScimUserInput) 201 ScimUser or 409: Create a user
get ${SCIM}/Users/{id} readScimUser(?excludedAttributes) ScimUser: Read a user
put ${SCIM}/Users/{id} replaceScimUser(ScimUserInput) ScimUser or 409: Replace a user
patch ${SCIM}/Users/{id} patchScimUser(ScimPatch) ScimUser or 409: Change a user
delete ${SCIM}/Users/{id} deleteScimUser() 204: Delete a user for good
get ${SCIM}/Groups listScimGroups(${SCIM_LIST}) ScimGroupList: Find groups
post ${SCIM}/Groups createScimGroup(ScimGroupInput) 201 ScimGroup or 409: Create a group
get ${SCIM}/Groups/{id} readScimGroup(?excludedAttributes) ScimGroup: Read a group
put ${SCIM}/Groups/{id} replaceScimGroup(ScimGroupInput) ScimGroup or 409: Replace a group and its members
patch ${SCIM}/Groups/{id} patchScimGroup(ScimPatch) ScimGroup or 409: Change a group or its members
delete ${SCIM}/Groups/{id} deleteScimGroup() 204: Delete a group; its members stay
get ${SCIM}/ServiceProviderConfig readServiceProviderConfig(): What this service provider supports
get ${SCIM}/ResourceTypes listResourceTypes(): Kinds of resources
get ${SCIM}/ResourceTypes/{id} readResourceType(): One kind of resource
get ${SCIM}/Schemas listSchemas(): Schemas of the resources
get ${SCIM}/Schemas/{id} readSchema(): One schema
`,
  // Users, roles, groups and attributes (contract 3).
  `
get /api/v1/users listUsers(?search ${CURSOR}) UserList: Find console users
post /api/v1/users createUser(UserInput) User or 409: Create a console user
post /api/v1/users/bulk bulkUsers(BulkAction) BulkResult: Deactivate, activate or delete many users
get /api/v1/users/me readMe() User: The caller
patch /api/v1/users/me/settings patchMySettings(MySettings) User: Change settings of the caller
put /api/v1/users/{id} updateUser(UserUpdate) User: Change a console user
delete /api/v1/users/{id} deleteUser(): Delete a console user
get /api/v1/roles listRoles(${CURSOR}) RoleList: Custom roles
put /api/v1/roles/{roleId}/users/{userId} assignRole() 204: Give a role to a user
delete /api/v1/roles/{roleId}/users/{userId} removeRole() 204: Take a role from a user
get /api/v1/user-groups listUserGroups(?search ${CURSOR}) UserGroupList: Groups with their sizes
delete /api/v1/groups/{id} deleteGroup() 204: Delete a group; its members stay
get /api/v1/user-attributes listUserAttributes(?name ?type ${PAGES}) UserAttributeList: Attribute definitions, newest first
post /api/v1/user-attributes createUserAttribute(UserAttributeInput) UserAttribute or 409: Define an attribute
put /api/v1/user-attributes/{id} updateUserAttribute(UserAttributeUpdate) UserAttribute: Change label, description or default
delete /api/v1/user-attributes/{id} deleteUserAttribute(): Delete a definition and all its values
post /api/v1/user-attribute-values upsertUserAttributeValue(UserAttributeValueInput) UserAttributeValue: Set or clear one value
get /api/v1/user-attribute-values/{userId} listUserAttributeValues() UserAttributeValues: Values of one user
`,
  // Control plane (contract 4.1 to 4.6, 4.9, 10).
  `
get /api/v1/deployments listDeployments(${PAGES}) DeploymentsList: Deployments that the caller can access
post /build/api/v1/deployments createDeployment(NewDeployment) Deployment: Create a deployment
get ${DEPLOYMENT} readDeployment() Deployment: One deployment
put ${DEPLOYMENT} updateDeployment(DeploymentUpdate) Deployment: Change settings, among them the version
get ${DEPLOYMENT}/versions listDeploymentVersions(${CURSOR}) DeploymentVersions: Versions that the deployment can be switched to
get ${DEPLOYMENT}/environments listEnvironments(?environmentType ${PAGES}) EnvironmentsList: Environments of a deployment
post ${DEPLOYMENT}/environments/{environmentId}/tokens-for-meta-sync createMetaSyncToken(MetaSyncTokenInput) MetaSyncToken: A token that reads metadata and nothing else
get ${BUILD}/branches listBranches(${CURSOR}) BranchesList: Branches of the data model
put ${BUILD}/branches/staging-environment setStagingEnvironment(StagingEnvironmentInput) BranchReply: Keep the staging environment of a shared branch active, or not
get /api/v1/audit-logs/export exportAuditLog(?start ?end ?search ?eventName ?userEmail) text/csv: The audit log as a CSV attachment
get ${DEPLOYMENT}/env-vars listVariables() Variables: Environment variables
put ${DEPLOYMENT}/env-vars putVariables(Variables) Variables: Set environment variables
get /api/v1/tenant/settings readTenantSettings() TenantSettings: Settings of the tenant
put /api/v1/tenant/settings putTenantSettings(TenantSettings) TenantSettings: Change settings of the tenant
get /api/v1/spec readSpec(): This document
`,
  // Workspace (contract 4.7).
  `
get ${DEPLOYMENT}/folders listFolders(?parentId ${PAGES}) FolderList: Folders of one level
post ${DEPLOYMENT}/folders createFolder(FolderInput) Folder: Create a folder
put ${DEPLOYMENT}/folders/{folderId} updateFolder(FolderUpdate) Folder: Rename or reorder a folder
delete ${DEPLOYMENT}/folders/{folderId} deleteFolder() 204: Delete a folder; its items move to the root
get ${DEPLOYMENT}/folders/{folderId}/ancestors listAncestors(): The folders above a folder, outermost first
get ${DEPLOYMENT}/workbooks listWorkbooks(?folderId ${PAGES}) WorkbookList: Workbooks
post ${DEPLOYMENT}/workbooks createWorkbook(WorkbookInput) WorkspaceItem: Create a workbook
get ${DEPLOYMENT}/workbooks/{workbookId} readWorkbook() WorkspaceItem: One workbook
get ${DEPLOYMENT}/workbooks/{workbookId}/embed-access readEmbedAccess() EmbedAccess: Access to the embedded dashboard
put ${DEPLOYMENT}/workbooks/{workbookId}/embed-access updateEmbedAccess(EmbedAccess) EmbedAccess: Change access to the embedded dashboard
get ${DEPLOYMENT}/reports listReports(?workbookId ?folderId ?search ${PAGES}) ReportList: Reports
post ${DEPLOYMENT}/reports createReport(ReportInput) Report or 409: Create a report
get ${DEPLOYMENT}/workspace listWorkspace(?folderId ?types ?search ${CURSOR}) Feed: Content of a folder, folders first
post ${DEPLOYMENT}/workspace/move moveItem(MoveInput) WorkspaceItem: Move a folder, workbook or report
`,
];

const LINE = /^(\w+ \S+) (\w+)\((\w+)? ?(.*)\)(?: (\d{3}))?(?: ([\w/]+))??( or 409)?: (.+)$/;

/** Returns the operation of a line under `<method> <path>`. */
function readLine(line: string): [operation: string, text: OperationText] {
  const [, operation, id, body, query, status, answer, conflict, summary] = LINE.exec(line) ?? [];
  if (operation === undefined || id === undefined || summary === undefined)
    throw new Error(`Not an operation: ${line}`);
  const names = [...(query ?? '').matchAll(/\?(\w+)/g)].map(([, name = '']) => name);
  return [
    operation,
    { id, summary, query: names, body, answer, status, mayConflict: conflict !== undefined },
  ];
}

/** Descriptions by `<method> <path>`. */
export const OPERATIONS: ReadonlyMap<string, OperationText> = new Map(
  TABLES.flatMap((table) => table.trim().split('\n').map(readLine)),
);
