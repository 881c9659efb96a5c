// Stores the state of the sandbox. A reset creates a new state; requests in progress finish on the old one.
import { createAuditRecords } from './audit-log.ts';
import type { AgentRecord, ExternalUserRecord, ThreadRecord } from './chat/records.ts';
import { createRuns } from './chat/runs.ts';
import { EXTERNAL_USER_KEYS, THREAD_KEYS, type ExternalExpiry } from './chat/tables.ts';
import type { RecentChangesDeps } from './recent-changes.ts';
import { createMemberships } from './memberships.ts';
import type {
  AttributeDefinition,
  Credential,
  DeploymentRecord,
  GroupRecord,
  Release,
  TenantRole,
  UserRecord,
} from './records.ts';
import type { SandboxJsonObject } from './json.ts';
import type { SandboxSettings } from './settings.ts';
import { createTable } from './table.ts';
import { createGrants, createItems } from './workspace/records.ts';

export type State = Readonly<ReturnType<typeof createState>>;

/** State as read requests see it; an injected fault (`PATCH /faults`) can show an earlier state. */
export type StateView = Readonly<ReturnType<typeof viewOf>>;

/** Arguments of every operation: the stored state, the settings, and the time in Unix milliseconds. */
export interface CurrentState {
  readonly state: State;
  readonly settings: SandboxSettings;
  readonly nowMs: number;
}

/** Returns the index keys of an optional text: none for null. */
const lower = (text: string | null): string[] => (text === null ? [] : [text.toLowerCase()]);

/**
 * Number of characters before the @ in a key of the index `search`, such as `ada@`. By this index a search for an address need not
 * read all users.
 */
const SEARCH_KEY_LENGTH = 3;

/** Returns the index key for a search text in lower case; undefined without an @ or with fewer than three characters before it. */
export function searchKey(wanted: string): string | undefined {
  const at = wanted.indexOf('@');
  return at < SEARCH_KEY_LENGTH ? undefined : wanted.slice(at - SEARCH_KEY_LENGTH, at + 1);
}

/**
 * Returns an index key for every @ with at least three characters before it: these three and the @. A search for an address
 * then finds all users whose text contains that address.
 */
function searchKeys(text: string): string[] {
  const keys = new Set<string>();
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (at >= SEARCH_KEY_LENGTH) keys.add(text.slice(at - SEARCH_KEY_LENGTH, at + 1));
  }
  return [...keys];
}

/** Creates an empty state. Index keys of users, groups and roles are in lower case; all other ones keep their letter case. */
export function createState(deps: RecentChangesDeps) {
  return {
    users: createTable<UserRecord>(
      {
        uuid: (user) => [user.uuid],
        userName: (user) => [user.userName.toLowerCase()],
        externalId: (user) => lower(user.externalId),
        displayName: (user) => lower(user.displayName),
        email: (user) => [
          ...new Set([user.email, ...user.emails.map((entry) => entry.value)].flatMap(lower)),
        ],
        search: (user) => searchKeys(user.searchText),
      },
      deps,
    ),
    groups: createTable<GroupRecord>(
      {
        uuid: (group) => [group.uuid],
        displayName: (group) => [group.displayName.toLowerCase()],
        externalId: (group) => lower(group.externalId),
      },
      deps,
    ),
    memberships: createMemberships(deps),
    attributes: createTable<AttributeDefinition>({ name: (definition) => [definition.name] }, deps),
    roles: createTable<TenantRole>({ name: (role) => [role.name.toLowerCase()] }, deps),
    /** Key: the secret. */
    credentials: new Map<string, Credential>(),
    deployments: new Map<string, DeploymentRecord>(),
    /** Published versions of the deployment software. */
    releases: createTable<Release>({ channel: (release) => [release.channel] }, deps),
    audit: createAuditRecords(),
    threads: createTable<ThreadRecord>(THREAD_KEYS, deps),
    externalUsers: createTable<ExternalUserRecord>(EXTERNAL_USER_KEYS, deps),
    // Time of the next check for expired external users. 0 is in the past, so the first chat request checks all of them.
    externalExpiry: { dueMs: 0 } satisfies ExternalExpiry,
    /** Chat agents with a behaviour from a test (AgentScript); others are not stored. */
    agents: createTable<AgentRecord>({ agentId: (agent) => [agent.agentId] }, deps),
    /** Chat answers in progress; not saved. */
    runs: createRuns(),
    /** `<deployment id>/<branch name>` of the branches that a user views. */
    branchViews: new Set<string>(),
    workspace: createItems(deps),
    grants: createGrants(deps),
    /** Records of generic collections, by name and deployment (control-plane/collections.ts). */
    collections: new Map<string, readonly SandboxJsonObject[]>(),
    /** Ids of administrators that are not deactivated (last-admin rule, contract 3.3). */
    activeAdmins: new Set<number>(),
  };
}

/** Returns the readable parts as they were at `cutoffMs` (Unix milliseconds), or the live ones for null. */
export function viewOf(state: State, cutoffMs: number | null) {
  return {
    users: state.users.asOf(cutoffMs),
    groups: state.groups.asOf(cutoffMs),
    memberships: state.memberships.asOf(cutoffMs),
    attributes: state.attributes.asOf(cutoffMs),
  };
}
