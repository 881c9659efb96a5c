// Reads the state and the request log of the sandbox through its control port.
import { send } from './send.ts';

export interface PlatformUser {
  id: number;
  scimId: string;
  userName: string;
  externalId: string | null;
  displayName: string | null;
  active: boolean;
  attributes: Record<string, unknown>;
  /** The names of the groups; `user` sorts them, because the order is the one in which the groups were made. */
  groups: string[];
  roles: string[];
}

export interface PlatformCallLine {
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  status: number;
  atMs: number;
  body?: any;
}

export interface PlatformView {
  state(): Promise<{
    users: PlatformUser[];
    groups: { displayName: string; scimId: string; members: string[] }[];
    [more: string]: any;
  }>;
  user(userName: string): Promise<PlatformUser | undefined>;
  group(displayName: string): Promise<{ displayName: string; scimId: string; members: string[] } | undefined>;
  requests(): Promise<PlatformCallLine[]>;
  /** Returns the requests that change data. */
  writes(): Promise<PlatformCallLine[]>;
  forgetRequests(): Promise<void>;
  control(method: string, path: string, body?: object): Promise<any>;
}

export function createPlatformView(controlUrl: string): PlatformView {
  const control: PlatformView['control'] = async (method, path, body) => {
    const answer = await send(controlUrl, method, path, {
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (answer.status >= 300) throw new Error(`control ${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const state = (): ReturnType<PlatformView['state']> => control('GET', '/state');
  const requests = async (): Promise<PlatformCallLine[]> => {
    const answer = await control('GET', '/requests');
    return (Array.isArray(answer) ? answer : answer.requests) as PlatformCallLine[];
  };
  return {
    control,
    state,
    requests,
    user: async (userName) => {
      const found = (await state()).users.find((user) => user.userName === userName);
      return found && { ...found, groups: found.groups.toSorted() };
    },
    group: async (displayName) => (await state()).groups.find((group) => group.displayName === displayName),
    writes: async () => (await requests()).filter(({ method }) => method !== 'GET'),
    forgetRequests: () => control('DELETE', '/requests'),
  };
}
