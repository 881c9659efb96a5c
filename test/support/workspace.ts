// Opens a bridge that hands over the work of closed accounts, and reads and changes the items in the workspace of the platform.
import { buildBridge, TOKEN, type Bridge } from './build-bridge.ts';
import { createCommands } from './command.ts';
import { eventually } from './eventually.ts';
import { openReconciling } from './reconciling.ts';

interface Item {
  id: number;
  type: string;
  name: string;
  owner: string;
  folderId?: number | null;
  parentId?: number | null;
}

export const handoverSettings = (
  { config, sandbox }: Bridge,
  handover: object | null,
  target: object = {},
) => ({
  redis: { url: process.env.TEST_REDIS_URL, prefix: config.redis.prefix },
  connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
  targets: {
    main: {
      url: sandbox.ready.platformUrl,
      token: sandbox.ready.fixtures.apiKeys.admin,
      allowLoopbackHttp: true,
      rateLimit: { requestsPerSecond: 2000, burst: 2000 },
      handover,
      ...target,
    },
  },
  reconcile: { schedule: null },
});

export const ownedBy = (owner: string, name: string, more: object = {}) => ({
  owner,
  deploymentId: 1,
  name,
  ...more,
});

export const placeOf = ({ folderId, parentId }: Item): number | null => folderId ?? parentId ?? null;

/**
 * Opens a bridge that hands work over to the folder Team.
 * @returns the bridge, and functions that read and change people and items
 */
export async function openWorkspace() {
  const bridge = await buildBridge({
    configure: (config) => {
      const { main } = config.targets;
      if (!main) throw new Error('no target');
      main.handover = { deployment: '1', folder: 'Team', afterDays: 0 };
      main.guard.deactivate = { count: 100, percent: 100 };
    },
  });
  const runs = await openReconciling(bridge);
  const team = Number((await runs.meddle('POST', '/api/v1/deployments/1/folders', { name: 'Team' })).id);
  const commands = createCommands(handoverSettings(bridge, { deployment: 1, folder: team, afterDays: 0 }));

  const items = async (): Promise<Item[]> => {
    const { folders, workbooks, reports } = (await bridge.platform.state()).workspace;
    return [...folders, ...workbooks, ...reports] as Item[];
  };
  const find = async (name: string): Promise<Item> => {
    const found = (await items()).filter((item) => item.name === name);
    if (found.length !== 1) throw new Error(`${found.length} items are called ${name}`);
    return found[0] as Item;
  };
  /** Returns the names of the folders above an item, outermost first, joined by slashes. */
  async function pathOf(name: string): Promise<string> {
    const all = await items();
    const path: string[] = [];
    for (let at = placeOf(await find(name)); at !== null;) {
      const folder = all.find(({ id, type }) => id === at && type === 'FOLDER');
      if (!folder) throw new Error(`no folder ${at}`);
      path.unshift(folder.name);
      at = placeOf(folder);
    }
    return path.join('/');
  }
  const fixtures = (body: object) => bridge.platform.control('POST', '/fixtures', body);
  const active = (userName: string, wanted: boolean) =>
    eventually(`${userName} is ${wanted ? 'active' : 'closed'}`, async () => {
      const user = await bridge.platform.user(userName);
      return user?.active === wanted;
    });

  /** Creates a person who owns a workbook, a report, and a top folder with a workbook in it. */
  async function bring(person: string): Promise<{ id: string; userName: string; top: number }> {
    const userName = `${person}@acme.example`;
    const id = await bridge.idp.createUser(userName);
    await active(userName, true);
    const made = await fixtures({
      folders: [ownedBy(userName, `${person} top`)],
      workbooks: [ownedBy(userName, `${person} book`)],
      reports: [ownedBy(userName, `${person} report`)],
    });
    const top = made.folders[0].id as number;
    await fixtures({ workbooks: [ownedBy(userName, `${person} inner`, { folderId: top })] });
    return { id, userName, top };
  }

  async function close(id: string, userName: string): Promise<void> {
    await bridge.idp.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
    await active(userName, false);
    await bridge.idle();
  }

  const stop = async (): Promise<void> => {
    commands.remove();
    await runs.stop();
    await bridge.stop();
  };
  return { bridge, runs, team, commands, items, find, pathOf, fixtures, active, bring, close, stop };
}
