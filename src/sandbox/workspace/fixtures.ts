// Creates fixtures of `POST /fixtures`: folders, workbooks, reports and grants (docs/sandbox.md).
import { requireOwner, type Make } from '../fixture.ts';
import { own, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { Scene } from '../state.ts';
import {
  addFolder,
  addReport,
  addWorkbook,
  readNewFolder,
  readNewReport,
  readNewWorkbook,
  type Placing,
} from './create.ts';
import { createDashboardReader } from './dashboards.ts';
import { ACTION_KINDS, ITEM_TYPES, type Grant, type WorkspaceItemType } from './records.ts';
import { showGrant, showItem } from './state-view.ts';

function deploymentOf(scene: Scene, source: SandboxJsonObject): string {
  const id = String(own(source, 'deploymentId'));
  if (!scene.state.deployments.has(id))
    throw new SandboxProblem(400, `deploymentId: no such deployment: ${id}`);
  return id;
}

/** Without `owner` the item belongs to the first administrator. */
function placingOf(scene: Scene, source: SandboxJsonObject): Placing {
  const { users, activeAdmins } = scene.state;
  const [admin] = activeAdmins;
  const owner = own(source, 'owner') === undefined ? users.get(admin ?? 0) : requireOwner(scene, source);
  if (!owner) throw new SandboxProblem(400, 'owner is required: there is no administrator');
  return { deploymentId: deploymentOf(scene, source), ownerId: owner.id };
}

export const makeFolder: Make = (scene, source) => {
  const folder = addFolder(scene, placingOf(scene, source), readNewFolder(source));
  return { ...source, ...showItem(scene, folder) };
};

export const makeWorkbook: Make = (scene, source) => {
  const workbook = addWorkbook(
    scene,
    placingOf(scene, source),
    readNewWorkbook(source, createDashboardReader()),
  );
  return { ...source, ...showItem(scene, workbook) };
};

export const makeReport: Make = (scene, source) => {
  const report = addReport(scene, placingOf(scene, source), readNewReport(source));
  return { ...source, ...showItem(scene, report) };
};

function requireSubject(scene: Scene, type: string, id: unknown): number {
  const { workspace, deployments } = scene.state;
  const known =
    type === 'DEPLOYMENT' ? deployments.has(String(id)) : workspace.get(Number(id))?.type === type;
  if (!known) throw new SandboxProblem(400, `id: no such ${type.toLowerCase()}: ${String(id)}`);
  return Number(id);
}

/** `{user, type, id, action}`; `type` is a kind of item, or DEPLOYMENT, in any case. */
export const makeGrant: Make = (scene, source) => {
  const named = String(own(source, 'type')).toUpperCase();
  const type = [...ITEM_TYPES, 'DEPLOYMENT' as const].find(
    (known: WorkspaceItemType | 'DEPLOYMENT') => known === named,
  );
  if (!type) throw new SandboxProblem(400, `type must be one of ${ITEM_TYPES.join(', ')}, DEPLOYMENT`);
  const action = ACTION_KINDS.find((known) => known === own(source, 'action'));
  if (!action) throw new SandboxProblem(400, `action must be one of ${ACTION_KINDS.join(', ')}`);
  const grant: Grant = {
    id: scene.state.grants.nextId(),
    userId: requireOwner(scene, source, 'user').id,
    type,
    itemId: requireSubject(scene, type, own(source, 'id')),
    action,
  };
  scene.state.grants.put(grant);
  return { ...source, ...showGrant(scene, grant) };
};
