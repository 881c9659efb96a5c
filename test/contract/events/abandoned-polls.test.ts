// Tests a receiver that disconnects while the events of its poll are read and signed.
import { generateKeyPairSync } from 'node:crypto';
import { createConnection } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildBridge, type Bridge } from '../../support/build-bridge.ts';
import { AUDIENCE, ISSUER } from '../../support/receiver.ts';
import { rawRequest } from '../hostile/attack.ts';
import { createClient } from '../scim-conformance/client.ts';

const POLL_TOKEN = 'token-of-the-receiver-0123456789';
const EVENTS = 60;
/** About twice the unread answers that a connection may have: half of it for one answer with all events. */
const IN_FLIGHT_BYTES = 200_000;

let bridge: Bridge;
beforeAll(async () => {
  // Signing by RSA takes long enough that the receiver disconnects before the end.
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  bridge = await buildBridge({
    configure: ({ connections, server }) => {
      Object.assign(server.limits, { inFlightBytes: IN_FLIGHT_BYTES, pageBytes: IN_FLIGHT_BYTES / 4 });
      const { default: connection } = connections;
      if (!connection) throw new Error('there is no connection');
      connection.events = {
        issuer: ISSUER,
        audience: AUDIENCE,
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        otherKeys: [],
        poll: { token: POLL_TOKEN },
        push: null,
        externalIds: false,
        mostPending: 1000,
        maxAgeMs: 3_600_000,
      };
    },
  });
});
afterAll(() => bridge.stop());

test('polls whose receiver disconnects before the answer leave later polls and lists answered', async () => {
  const scim = createClient(bridge.app.port);
  for (let n = 0; n < EVENTS; n++) await scim.user(`told${n}@acme.example`);
  const body = JSON.stringify({ returnImmediately: true });
  const headers = { authorization: `Bearer ${POLL_TOKEN}`, 'content-type': 'application/json' };
  const wire = rawRequest(
    'POST /connections/default/events',
    { ...headers, 'content-length': body.length },
    body,
  );
  for (let n = 0; n < 8; n++) {
    const socket = createConnection({ host: '127.0.0.1', port: bridge.app.port, noDelay: true });
    await once(socket, 'connect');
    socket.write(wire);
    await sleep(10);
    socket.destroy();
  }
  const answer = await fetch(`http://127.0.0.1:${bridge.app.port}/connections/default/events`, {
    method: 'POST',
    headers,
    body,
  });
  expect(answer.status).toBe(200);
  expect(Object.keys(((await answer.json()) as { sets: object }).sets)).toHaveLength(EVENTS);
  expect((await scim.get('/Users?count=100')).status).toBe(200);
});
