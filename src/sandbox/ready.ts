// Builds the ready line: addresses and credentials of a started sandbox as JSON (docs/sandbox.md).
import type { DeploymentRecord } from './records.ts';
import type { CurrentState } from './state.ts';

interface Person {
  readonly id: number;
  readonly userName: string;
}

export interface ReadyLine {
  readonly platformUrl: string;
  readonly dataApiUrl: string;
  readonly chatHost: string;
  readonly accountName: string;
  readonly controlUrl: string;
  /** PEM of the sandbox's own certificate; with TLS only. */
  readonly certificate?: string;
  readonly fixtures: {
    /** API keys by name. */
    readonly apiKeys: Readonly<Record<string, string>>;
    readonly oauthToken: string;
    readonly deployments: readonly Pick<
      DeploymentRecord,
      'id' | 'name' | 'apiSecret' | 'agents' | 'tokenAuthentication'
    >[];
    readonly users: { readonly admin: Person; readonly viewer: Person };
  };
}

interface Addresses {
  readonly platformUrl: string;
  readonly controlUrl: string;
  readonly certificate: string | undefined;
  /** Base path of the data API on the platform's listener. */
  readonly dataPath: string;
}

/** Name of the sandbox's only tenant in chat addresses. */
export const ACCOUNT_NAME = 'acme';

/** Returns a user of the seed; id 0 and no name after that user was deleted, as in a restored state. */
function personOf(current: CurrentState, name: string): Person {
  const [user] = current.state.users.find('userName', `${name}@acme.example`);
  return { id: user?.id ?? 0, userName: user?.userName ?? '' };
}

/** Returns the ready line of a seeded or restored state; a value of the seed that was deleted since is empty. */
export function toReadyLine(current: CurrentState, addresses: Addresses): ReadyLine {
  const credentials = [...current.state.credentials.values()];
  const keys = credentials
    .filter((credential) => credential.kind === 'apiKey')
    .map((key): [string, string] => [key.name, key.secret]);
  return {
    platformUrl: addresses.platformUrl,
    dataApiUrl: `${addresses.platformUrl}${addresses.dataPath}`,
    chatHost: addresses.platformUrl,
    accountName: ACCOUNT_NAME,
    controlUrl: addresses.controlUrl,
    ...(addresses.certificate === undefined ? {} : { certificate: addresses.certificate }),
    fixtures: {
      apiKeys: Object.fromEntries(keys),
      oauthToken: credentials.find((credential) => credential.kind === 'oauthToken')?.secret ?? '',
      deployments: [...current.state.deployments.values()].map(
        ({ id, name, apiSecret, agents, tokenAuthentication }) => ({
          id,
          name,
          apiSecret,
          agents,
          tokenAuthentication,
        }),
      ),
      users: { admin: personOf(current, 'admin'), viewer: personOf(current, 'viewer') },
    },
  };
}
