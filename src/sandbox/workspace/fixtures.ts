// Creates fixtures of `POST /fixtures`: folders, workbooks, reports and grants (docs/sandbox.md).
import { requireOwner, type MakeFixture } from '../fixture.ts';
import { own, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { CurrentState } from '../state.ts';
import {
  addFolder,
  addReport,
  addWorkbook,
  readNewFolder,
  readNewReport,
  readNewWorkbook,
  type Placing,
} from './create.ts';
import { ACTION_KINDS, ITEM_TYPES, type Grant } from './records.ts';
import { showGrant, showItem } from './state-view.ts';

function deploymentOf(current: CurrentState, source: SandboxJsonObject): string {
  const id = String(own(source, 'deploymentId'));
  if (!current.state.deployments.has(id))
    throw new SandboxProblem(400, `deploymentId: no such deployment: ${id}`);
  return id;
}

/** Returns deployment and owner of a new item; without `owner` it belongs to the first administrator. */
function placingOf(current: CurrentState, source: SandboxJsonObject): Placing {
  const { users, activeAdmins } = current.state;
  const [admin] = activeAdmins;
  // Without an administrator no user is found: ids begin at 1.
  const owner = own(source, 'owner') === undefined ? users.get(admin ?? 0) : requireOwner(current, source);
  if (!owner) throw new SandboxProblem(400, 'owner is required: there is no administrator');
  return { deploymentId: deploymentOf(current, source), ownerId: owner.id };
}

export const makeFolder: MakeFixture = (current, source) => {
  const folder = addFolder(current, placingOf(current, source), readNewFolder(source));
  return { ...source, ...showItem(current, folder) };
};

export const makeWorkbook: MakeFixture = (current, source) => {
  const workbook = addWorkbook(current, placingOf(current, source), readNewWorkbook(source));
  return { ...source, ...showItem(current, workbook) };
};

export const makeReport: MakeFixture = (current, source) => {
  const report = addReport(current, placingOf(current, source), readNewReport(source));
  return { ...source, ...showItem(current, report) };
};

/** Returns the id of the item or deployment that a grant is for. @throws 400 when there is none */
function requireGrantedId(current: CurrentState, type: string, id: unknown): number {
  const { workspace, deployments } = current.state;
  const known =
    type === 'DEPLOYMENT' ? deployments.has(String(id)) : workspace.get(Number(id))?.type === type;
  if (!known) throw new SandboxProblem(400, `id: no such ${type.toLowerCase()}: ${String(id)}`);
  return Number(id);
}

/** `{user, type, id, action}`; `type` is a kind of item, or DEPLOYMENT, in any letter case. */
export const makeGrant: MakeFixture = (current, source) => {
  const named = String(own(source, 'type')).toUpperCase();
  const types: readonly Grant['type'][] = [...ITEM_TYPES, 'DEPLOYMENT'];
  const type = types.find((known) => known === named);
  if (!type) throw new SandboxProblem(400, `type must be one of ${ITEM_TYPES.join(', ')}, DEPLOYMENT`);
  const action = ACTION_KINDS.find((known) => known === own(source, 'action'));
  if (!action) throw new SandboxProblem(400, `action must be one of ${ACTION_KINDS.join(', ')}`);
  const grant: Grant = {
    id: current.state.grants.nextId(),
    userId: requireOwner(current, source, 'user').id,
    type,
    itemId: requireGrantedId(current, type, own(source, 'id')),
    action,
  };
  current.state.grants.put(grant);
  return { ...source, ...showGrant(current, grant) };
};
