// The audience: what the platform shows and which calls it received, through the sandbox's control port.
import { request, type Dispatcher } from 'undici';

export interface PlatformState {
  users: {
    externalId: string | null;
    userName: string;
    displayName: string | null;
    active: boolean;
    attributes: Record<string, unknown>;
    groups: string[];
  }[];
  groups: { displayName: string }[];
}

export interface PlatformCall {
  method: string;
  status: number | null;
  /** Arrival, Unix milliseconds. */
  atMs: number;
  durationMs: number | null;
}

export interface Platform {
  state(): Promise<PlatformState>;
  /** Every call since the start, oldest first. */
  calls(): Promise<PlatformCall[]>;
}

export const isWrite = ({ method }: PlatformCall): boolean => method !== 'GET';

/** Reads the platform from outside; writes nothing. */
export function createPlatform(options: { controlUrl: string; agent: Dispatcher }): Platform {
  const { controlUrl, agent } = options;
  const get = async (path: string): Promise<unknown> => {
    const answer = await request(controlUrl + path, { dispatcher: agent });
    if (answer.statusCode !== 200) throw new Error(`The sandbox answered ${answer.statusCode} to ${path}.`);
    return answer.body.json();
  };
  return {
    state: () => get('/state?only=users,groups') as Promise<PlatformState>,
    calls: () => get('/requests') as Promise<PlatformCall[]>,
  };
}
