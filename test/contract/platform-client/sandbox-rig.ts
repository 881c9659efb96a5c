// Starts a sandbox and the platform client with an administrator's key.
import { createPlatformClient, type WholePlatformOptions } from '../../../src/platform/library.ts';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { startRig } from '../sandbox/rig.ts';

/** Starts a sandbox; `client` has the administrator's key, `clientWith` creates others. `stop` closes all. */
export async function startClientRig(options: SandboxOptions = {}) {
  const rig = await startRig(options);
  const clients: { close(): Promise<void> }[] = [];
  const kept = <T extends { close(): Promise<void> }>(client: T): T => {
    clients.push(client);
    return client;
  };
  const clientWith = (more: Partial<WholePlatformOptions> = {}) =>
    kept(
      createPlatformClient({
        url: rig.ready.platformUrl,
        token: rig.key('admin'),
        allowLoopbackHttp: true,
        ...more,
      }),
    );
  return {
    ...rig,
    client: clientWith(),
    clientWith,
    /** Returns the client, which `stop` closes too. */
    kept,
    /** Adds users, groups or other state to the sandbox. @returns the answer of its control port */
    fixtures: async (body: object) => (await rig.control('POST', '/fixtures', body)).body,
    async stop() {
      await Promise.all(clients.map((client) => client.close()));
      await rig.stop();
    },
  };
}

export type ClientRig = Awaited<ReturnType<typeof startClientRig>>;

/** Returns all items of a list that is read on demand. */
export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}
