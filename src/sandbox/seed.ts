// Creates the seeds (docs/sandbox.md): `small`, a sample tenant called acme, and `large:N`, the same tenant with N further users in
// groups.
import { plantControlPlane } from './control-plane/seed.ts';
import { SandboxProblem } from './problem.ts';
import type { UserRecord } from './records.ts';
import type { Secrets } from './secrets.ts';
import { BUILT_IN_ROLES } from './settings.ts';
import type { CurrentState, State } from './state.ts';
import { applyMemberStep, createGroup } from './users/group-life.ts';
import { createPerson, type NewPerson } from './users/people.ts';
import { plantWorkspace } from './workspace/seed.ts';

const DAY_MS = 86_400_000;
const COUNTRIES = ['DE', 'FR', 'US', 'JP', 'BR'];
/** Users in each team of the large seed; a team is a group. */
const TEAM_SIZE = 50;

/** Credentials of the seed; the ready line names the API keys (docs/sandbox.md). */
const CREDENTIALS: readonly {
  readonly name: string;
  readonly owner: 'admin' | 'viewer' | 'auditor';
  /** Ids of the deployments that the key is limited to; default: all. */
  readonly deployments?: readonly string[];
  readonly isExpired?: true;
  readonly kind?: 'oauthToken';
}[] = [
  { name: 'admin', owner: 'admin' },
  { name: 'viewer', owner: 'viewer' },
  { name: 'scoped', owner: 'admin', deployments: ['1'] },
  { name: 'expired', owner: 'admin', isExpired: true },
  { name: 'audit', owner: 'auditor' },
  { name: 'admin', owner: 'admin', kind: 'oauthToken' },
];

function addRoles(state: State): void {
  for (const name of BUILT_IN_ROLES) {
    state.roles.put({ id: state.roles.nextId(), name, description: null, isBuiltIn: true, policies: [] });
  }
  const policies = [{ resourceType: 'Deployment', actions: ['DeploymentRead'], resources: ['*'] }];
  for (const name of ['Data Steward', 'Finance Reader']) {
    state.roles.put({
      id: state.roles.nextId(),
      name,
      description: `${name}s of acme`,
      isBuiltIn: false,
      policies,
    });
  }
}

function addPerson(
  current: CurrentState,
  localName: string,
  fullName: string,
  more: Partial<NewPerson>,
): UserRecord {
  const userName = `${localName}@acme.example`;
  // The platform's `firstName` holds the whole name.
  const names = { email: userName, firstName: fullName, displayName: fullName };
  return createPerson(current, { userName, ...names, aliasSource: 'manual', roles: new Set(), ...more });
}

function addSmall(current: CurrentState, secrets: Secrets): void {
  const { state } = current;
  addRoles(state);
  const owners = {
    admin: addPerson(current, 'admin', 'Ada Admin', { isAdmin: true }),
    viewer: addPerson(current, 'viewer', 'Vera Viewer', { roles: new Set(['Viewer']) }),
    auditor: addPerson(current, 'auditor', 'Otto Auditor', {
      roles: new Set(['Viewer']),
      permissions: new Set(['AuditLogManage']),
    }),
  };
  // The access policies of the data model use `country` (docs/sandbox.md); the bridge defines all other attributes.
  const country = {
    name: 'country',
    displayName: 'Country',
    description: 'Rows a person may see',
    defaultValue: null,
  };
  state.attributes.put({ id: state.attributes.nextId(), type: 'string', ...country });
  for (const { name, owner, deployments, isExpired, kind = 'apiKey' } of CREDENTIALS) {
    // API keys begin with `sk-` (contract 1.1).
    const secret = kind === 'apiKey' ? secrets.named(`key ${name}`, 'sk-') : secrets.named(`oauth ${name}`);
    state.credentials.set(secret, {
      kind,
      name,
      secret,
      ownerId: owners[owner].id,
      deployments: deployments ? new Set(deployments) : null,
      expiresAtMs: isExpired ? current.nowMs - DAY_MS : null,
    });
  }
  plantControlPlane(current, secrets);
  plantWorkspace(current, owners.admin, owners.viewer);
}

/** Adds `count` users, one group with all of them, and one group for each team. */
function addCrowd(current: CurrentState, count: number): void {
  const { state } = current;
  const [country] = state.attributes.find('name', 'country');
  const everyone = createGroup(current, 'all-staff', 'group-all-staff');
  const ids = Array.from({ length: count }, (_, index) => {
    const number = String(index + 1).padStart(6, '0');
    const userName = `user${number}@acme.example`;
    const person = createPerson(current, {
      userName,
      email: userName,
      emails: [{ value: userName, type: 'work', primary: true }],
      externalId: `ext-${number}`,
      displayName: `User ${number}`,
      firstName: `User ${number}`,
      givenName: 'User',
      familyName: number,
      values: new Map(country ? [[country.id, COUNTRIES[index % COUNTRIES.length] ?? 'DE']] : []),
      aliasSource: 'scim',
    });
    return person.id;
  });
  applyMemberStep(current, everyone.id, { kind: 'add', userIds: ids });
  for (let start = 0; start < ids.length; start += TEAM_SIZE) {
    const name = `team-${String(start / TEAM_SIZE + 1).padStart(4, '0')}`;
    const team = createGroup(current, name, `group-${name}`);
    applyMemberStep(current, team.id, { kind: 'add', userIds: ids.slice(start, start + TEAM_SIZE) });
  }
}

/** Fills an empty state with the seed `small` or `large:N`; throws SandboxProblem 400 for any other name. */
export function plantSeed(current: CurrentState, seed: string, secrets: Secrets): void {
  const [, count] = /^large:(\d{1,7})$/.exec(seed) ?? [];
  if (seed !== 'small' && count === undefined)
    throw new SandboxProblem(400, `Unknown seed: ${seed} (small or large:N)`);
  addSmall(current, secrets);
  if (count !== undefined) addCrowd(current, Number(count));
}
