// Starts a bridge with six users whose deactivations are all held, and need the approval of two persons.
import { openAdmin, type AdminRig } from './rig.ts';

/** User names of the users. */
export const NAMES = Array.from({ length: 6 }, (_, index) => `p${index}@acme.example`);

export interface TwoApproversRig {
  rig: AdminRig;
  /** Ids of the users, in the order of NAMES. */
  ids: string[];
  /** Deactivates users at the source, by their index in NAMES. */
  leave: (...numbers: number[]) => Promise<void>;
  /** @returns names of the users that are inactive at the platform, sorted */
  closed: () => Promise<string[]>;
  /** @returns id of the first approval in the list */
  heldId: () => Promise<string>;
}

/** Starts the bridge. The headers of the proxy may come from any process of this machine, so tests send them. */
export async function openTwoApprovers(): Promise<TwoApproversRig> {
  const rig = await openAdmin({
    configure: ({ server, targets }) => {
      server.signIn = {
        openid: null,
        proxy: { from: ['127.0.0.0/8'], nameHeader: 'X-Forwarded-User', rolesHeader: 'X-Forwarded-Groups' },
        roles: { viewer: ['viewers'], operator: ['operators'], approver: ['approvers'] },
        idleMinutes: 60,
        hours: 8,
      };
      // Count 0: the guard holds every deactivation.
      if (targets.main)
        Object.assign(targets.main.guard, { approvers: 2, deactivate: { count: 0, percent: 100 } });
    },
  });
  const ids = await Promise.all(NAMES.map((name) => rig.bridge.idp.createUser(name)));
  await rig.untilSynced();
  return {
    rig,
    ids,
    leave: async (...numbers) => {
      for (const number of numbers)
        await rig.bridge.idp.patch(`/Users/${ids[number]}`, { op: 'replace', path: 'active', value: false });
      await rig.untilSynced();
    },
    closed: async () =>
      (await rig.bridge.platform.state()).users
        .filter(({ userName, active }) => NAMES.includes(userName) && !active)
        .map(({ userName }) => userName)
        .sort(),
    heldId: async () => (await rig.operator.get('/approvals')).body[0].id,
  };
}
