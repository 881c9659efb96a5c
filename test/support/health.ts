// Reads the health addresses as an operator.
import { ADMIN_TOKEN, type Bridge } from './build-bridge.ts';

/** Reads a health endpoint with the admin token. */
export async function askHealth(
  { app }: { app: Pick<Bridge['app'], 'port'> },
  path: string,
): Promise<{ status: number; body: any }> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const answer = await fetch(`http://127.0.0.1:${app.port}${path}`, { headers });
  return { status: answer.status, body: await answer.json() };
}

/** Returns the health of the target `main`. */
export const targetHealth = async (bridge: Pick<Bridge, 'app'>): Promise<any> =>
  (await askHealth(bridge, '/health')).body.components['target main'];
