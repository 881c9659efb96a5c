// Opens a bridge with two connections of one target, and a second platform that has other people's accounts under the same ids.
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { TOKEN } from './build-bridge.ts';
import { startFront, type Front } from './front.ts';
import { createIdp, type Idp } from './idp.ts';
import { createPlatformView, type PlatformView } from './platform-view.ts';
import { openPlace, type Place } from './situation.ts';

/** The people of the other platform, in the order of their ids. */
export const THEIRS = ['zoe', 'yan', 'xia', 'wim', 'vic', 'uma', 'tom', 'sue'].map(
  (name) => `${name}@other.example`,
);
/** Accounts that each sandbox has from its start. */
const BUILT_IN = /^(admin|viewer|auditor)@/;
const SECOND_TOKEN = `${TOKEN}-of-second`;

export interface TwoConnections {
  front: Front;
  /** Its platform is the first one. The connections are `default` and `second`, the target is `main`. */
  place: Place;
  other: Sandbox;
  /** The other platform. */
  there: PlatformView;
  /** The identity provider of the second connection. */
  second: () => Idp;
  /** Lets the address of the target lead to this platform. */
  lead: (sandbox: Sandbox) => void;
  /** Returns the userNames of the other platform. */
  namesThere: () => Promise<string[]>;
  /** Returns the requests that change something at the other platform. */
  changesThere: () => Promise<Awaited<ReturnType<PlatformView['writes']>>>;
  stop: () => Promise<void>;
}

/** Starts everything; the address of the target leads to the platform of the place. */
export async function openTwoConnections(): Promise<TwoConnections> {
  const front = await startFront();
  const tokensOf = (secret: string) => ({ tokens: [{ name: 'primary', secret }] });
  const place = await openPlace({
    target: { url: front.url },
    rest: { connections: { default: tokensOf(TOKEN), second: tokensOf(SECOND_TOKEN) } },
    roles: [],
  });
  const lead = ({ ready }: Sandbox): void => {
    front.platformUrl = ready.platformUrl;
    front.token = ready.fixtures.apiKeys.admin;
  };
  lead(place.sandbox);
  await place.start();
  const other = await startSandbox();
  const there = createPlatformView(other.ready.controlUrl);
  for (const platform of [place.platform, there])
    await platform.control('PATCH', '/settings', { scimIdStyle: 'numeric' });
  for (const userName of THEIRS) await there.control('POST', '/fixtures', { users: [{ userName }] });
  return {
    front,
    place,
    other,
    there,
    lead,
    second: () => createIdp(`http://127.0.0.1:${place.port}/connections/second/scim/v2`, SECOND_TOKEN),
    namesThere: async () =>
      (await there.state()).users.map(({ userName }) => userName).filter((name) => !BUILT_IN.test(name)),
    // A check of doctor sends HEAD.
    changesThere: async () => (await there.writes()).filter(({ method }) => method !== 'HEAD'),
    stop: async () => {
      await place.stop();
      await other.stop();
      front.stop();
    },
  };
}
