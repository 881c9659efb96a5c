// Uses the sandbox's control port: reads the platform's state and the calls that it received, and slows the answers of the chat, so
// that a step of the demo can deactivate a user in the middle of one (access.ts).
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

/** A call that the platform received; `status` and `durationMs` are null while it is not answered. */
export interface RecordedCall {
  method: string;
  path: string;
  status: number | null;
  /** Time at which the request arrived, Unix milliseconds. */
  atMs: number;
  durationMs: number | null;
}

/** Paths of the requests that chat users and verify-access send; `serve` never sends them. */
const DATA_REQUESTS = /^\/(api\/v1\/public|data-api)\/|\/tokens-for-meta-sync$/;

export const isRecordedWrite = ({ method }: RecordedCall): boolean => method !== 'GET';

export type Platform = ReturnType<typeof createPlatform>;

/** Returns functions that change no user or group; `paceChat` changes a setting of the sandbox. */
export function createPlatform(options: { controlUrl: string; agent: Dispatcher }) {
  const { controlUrl, agent } = options;
  const get = async (path: string): Promise<unknown> => {
    const answer = await request(controlUrl + path, { dispatcher: agent });
    if (answer.statusCode !== 200) throw new Error(`The sandbox answered ${answer.statusCode} to ${path}.`);
    return answer.body.json();
  };
  return {
    state: () => get('/state?only=users,groups') as Promise<PlatformState>,
    /** Returns every call of `serve` since the start, oldest first. */
    calls: async () =>
      ((await get('/requests')) as RecordedCall[]).filter(({ path }) => !DATA_REQUESTS.test(path)),
    /** Sets the pause before each record (part) of a chat answer, milliseconds; 0 ends the pauses. */
    paceChat: async (chatRecordDelayMs: number): Promise<void> => {
      const body = JSON.stringify({ chatRecordDelayMs });
      const answer = await request(`${controlUrl}/settings`, { method: 'PATCH', body, dispatcher: agent });
      await answer.body.dump();
    },
  };
}
