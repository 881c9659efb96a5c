// Provides functions for the workspace of deployment 1: items, users with grants, and moves.
import { startRig, type Rig } from './rig.ts';

export const BASE = '/api/v1/deployments/1';
export const MOVE = `${BASE}/workspace/move`;

export interface Item {
  id: number;
  type: string;
  folderId: number | null;
}
/** A grant of `POST /fixtures` without its user; `id` is the item. */
export type Grant = { type: string; id: number; action: 'read' | 'edit' | 'manage' };

export async function startWorkspaceRig() {
  const rig: Rig = await startRig();
  const create = async (path: string, body: object) => (await rig.post(`${BASE}/${path}`, body)).body;
  const fixtures = async (body: object) => (await rig.control('POST', '/fixtures', body)).body;
  let personCount = 0;

  return {
    ...rig,
    fixtures,
    folder: (parentId: number | null = null, name = 'folder') => create('folders', { name, parentId }),
    workbook: (folderId: number | null = null, more: object = {}) =>
      create('workbooks', { folderId, ...more }),
    report: (folderId: number | null = null, more: object = {}) => create('reports', { folderId, ...more }),
    /** Creates a chain of folders from the root; returns their ids, outermost first. */
    async chain(length: number): Promise<number[]> {
      const ids: number[] = [];
      for (let level = 0; level < length; level += 1) {
        ids.push((await create('folders', { name: `level ${level}`, parentId: ids.at(-1) ?? null })).id);
      }
      return ids;
    },
    /** Creates a user with these grants and permissions only, and returns a key of the user. */
    async person(grants: Grant[], permissions: string[] = []): Promise<string> {
      personCount += 1;
      const userName = `person${personCount}@acme.example`;
      const made = await fixtures({
        users: [{ userName, permissions }],
        apiKeys: [{ name: userName, owner: userName }],
        grants: grants.map((grant) => ({ user: userName, ...grant })),
      });
      return made.apiKeys[0].key;
    },
    move: (body: object, key?: string) => rig.call('POST', MOVE, { body, ...(key ? { key } : {}) }),
    /** Returns all stored folders, workbooks and reports. */
    tree: async () => (await rig.control('GET', '/state?only=workspace')).body.workspace,
  };
}

export type WorkspaceRig = Awaited<ReturnType<typeof startWorkspaceRig>>;
