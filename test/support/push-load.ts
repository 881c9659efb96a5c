// Simulates identity providers that create users at a steady rate and retry refused requests.
import { request } from 'undici';

export interface PushLoad {
  /** Acknowledged userNames. */
  stored: string[];
  /** Answers other than 201, by status; a repeated push that was already stored (409) is not counted. */
  refused: { status: number; retryAfter: unknown }[];
  /** Connections that ended without a complete answer, by error. */
  broken: string[];
  /**
   * Starts further clients that use only this address until it fails, and then all addresses like the others.
   * @returns when they got `count` answers altogether
   */
  pressOn(baseUrl: string, clients: number, count: number): Promise<void>;
  /** Resolves when the last push was accepted. @throws Error when a push was never accepted */
  stop(): Promise<void>;
}

export interface PushLoadOptions {
  /** Prefix of every userName. */
  prefix: string;
  token: string;
  perSecond: number;
  /** Address of the next attempt, such as `http://127.0.0.1:8080/scim/v2`. */
  next: () => string;
}

/** Pause before a push is repeated. */
const PAUSE_MS = 300;
/** Attempts after which a push that is not accepted is an error: 45 s of pauses. */
const ATTEMPTS = 150;

export function startPushLoad({ prefix, token, perSecond, next }: PushLoadOptions): PushLoad {
  const stored: string[] = [];
  const refused: PushLoad['refused'] = [];
  const broken: string[] = [];
  const running = new Set<Promise<unknown>>();
  let count = 0;

  async function post(baseUrl: string, userName: string): Promise<{ status: number; retryAfter: unknown }> {
    const answer = await request(`${baseUrl}/Users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify({
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName,
        externalId: userName,
        active: true,
      }),
    });
    await answer.body.dump();
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after'] };
  }

  /**
   * Creates one user, with repetitions.
   * @param first address of the first attempt; absent: that of `next`, as for the others
   * @returns whether the first attempt was answered
   */
  async function create(first?: string): Promise<boolean> {
    const userName = `${prefix}${count++}@acme.example`;
    let isAnswered = true;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const answer = await post(attempt === 0 ? (first ?? next()) : next(), userName);
        // 409: an earlier attempt was stored although its answer was a refusal or was lost.
        if (answer.status === 201 || (attempt > 0 && answer.status === 409)) {
          stored.push(userName);
          return isAnswered;
        }
        refused.push(answer);
      } catch (error) {
        isAnswered &&= attempt > 0;
        broken.push(error instanceof Error ? error.message : String(error));
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    throw new Error(`${userName} was never taken`);
  }

  function watched<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    // stop() checks the error; until then it must not count as an unhandled rejection.
    work.then(() => running.delete(work)).catch(() => undefined);
    return work;
  }
  const timer = setInterval(() => void watched(create()).catch(() => undefined), 1000 / perSecond);

  return {
    stored,
    refused,
    broken,
    pressOn: (baseUrl, clients, wanted) =>
      new Promise((resolve, reject) => {
        let answers = 0;
        const client = async (): Promise<void> => {
          while (await create(baseUrl)) if (++answers === wanted) resolve();
        };
        for (let index = 0; index < clients; index++) watched(client()).catch(reject);
      }),
    stop: async () => {
      clearInterval(timer);
      await Promise.all([...running]);
    },
  };
}

/** Refusals that an identity provider cannot handle: all except 503 with a whole number of seconds in Retry-After. */
export const refusedWrongly = ({ refused }: PushLoad): PushLoad['refused'] =>
  refused.filter(({ status, retryAfter }) => status !== 503 || !/^\d+$/.test(String(retryAfter)));
