// Finds the handover folder of a target, by its name at the root of the workspace or by its id.
import type { CallOptions } from '../../platform/client.ts';
import { PlatformAborted, PlatformError, PlatformResponse } from '../../platform/errors.ts';
import type { PlatformWorkspace, WorkspaceItem } from '../../platform/workspace.ts';
import type { SyncPolicy } from '../../sync/target.ts';

/** Where the items of closed accounts go, and when. */
export type HandoverSetting = NonNullable<SyncPolicy['handover']>;

/** The handover folder, found at the platform. */
export interface HandoverPlace {
  kind: 'found';
  deployment: string;
  folder: { id: string; name: string };
  /** Ids of the folders from the root to the handover folder, both included. */
  path: string[];
  /** Folders at the root of the workspace. */
  roots: WorkspaceItem[];
}

/** Why the handover folder was not found. */
interface HandoverProblem {
  kind: 'problem';
  /** A sentence for operators. */
  problem: string;
}

/** Form of a folder id; a setting of another form is a folder name. */
const IS_ID = /^[0-9]+$/;

/** Returns the handover folder with its path, and the folders at the root; or why the folder cannot be used. */
export async function findHandoverPlace(
  workspace: PlatformWorkspace,
  { deployment, folder }: Pick<HandoverSetting, 'deployment' | 'folder'>,
  options: CallOptions,
): Promise<HandoverPlace | HandoverProblem> {
  const roots: WorkspaceItem[] = [];
  try {
    for await (const each of workspace.folders(deployment, undefined, options)) roots.push(each);
  } catch (error) {
    if (error instanceof PlatformResponse && error.status === 404)
      return problem(
        `the deployment ${deployment} does not exist, or the key has no access to it: correct handover.deployment`,
      );
    return problem(`the folders of the deployment ${deployment} cannot be read: ${platformProblem(error)}`);
  }
  return IS_ID.test(folder)
    ? placeById(workspace, { deployment, folder, roots }, options)
    : placeByName({ deployment, folder, roots });
}

/** The setting, and the folders at the root of the workspace. */
interface Search extends Pick<HandoverSetting, 'deployment' | 'folder'> {
  roots: WorkspaceItem[];
}

/** Returns the one folder at the root that has the name. */
function placeByName({ deployment, folder, roots }: Search): HandoverPlace | HandoverProblem {
  const [found, another] = roots.filter(({ name }) => name === folder);
  if (!found)
    return problem(
      `the deployment ${deployment} has no folder "${folder}" at the root of its workspace: create it, or correct handover.folder`,
    );
  if (another)
    return problem(
      `the deployment ${deployment} has several folders "${folder}" at the root: give the id of one as handover.folder`,
    );
  return { kind: 'found', deployment, folder: found, path: [found.id], roots };
}

/** Returns the folder with the id, which may be anywhere in the workspace. */
async function placeById(
  workspace: PlatformWorkspace,
  { deployment, folder, roots }: Search,
  options: CallOptions,
): Promise<HandoverPlace | HandoverProblem> {
  try {
    const path = await workspace.ancestors(deployment, folder, options);
    const own = path.find(({ id }) => id === folder);
    if (!own) return problem(`the platform does not show the folder ${folder}`);
    return { kind: 'found', deployment, folder: own, path: path.map(({ id }) => id), roots };
  } catch (error) {
    if (error instanceof PlatformResponse && error.status === 404)
      return problem(
        `the deployment ${deployment} has no folder ${folder}, or the key has no access to it: correct handover.folder`,
      );
    return problem(`the folder ${folder} cannot be read: ${platformProblem(error)}`);
  }
}

const problem = (text: string): HandoverProblem => ({ kind: 'problem', problem: text });

/** Error of a write of a handover that was not sent; the message says why, as a sentence without a full stop. */
export class HandoverStopped extends Error {
  override name = 'HandoverStopped';
}

/**
 * Returns a sentence for a call that failed or was not sent.
 * @throws the error itself, if it does not come from the platform or the call was aborted
 */
export function platformProblem(error: unknown): string {
  if (error instanceof HandoverStopped) return error.message;
  if (!(error instanceof PlatformError) || error instanceof PlatformAborted) throw error;
  return error instanceof PlatformResponse && error.platformMessage
    ? `${error.status} ${error.platformMessage}`
    : error.message;
}
