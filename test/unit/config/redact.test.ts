// Tests that secrets are masked when the settings are shown.
import { generateKeyPairSync } from 'node:crypto';
import { printableConfig } from '../../../src/config/redact.ts';
import { fileWith, loadText } from './settings-folder.ts';

const HIDDEN = 'hidden-0123456789-hidden';
const WHSEC = `whsec_${HIDDEN.replaceAll('-', '/')}01234567`;
const { privateKey } = generateKeyPairSync('ed25519');
const KEY = JSON.stringify(privateKey.export({ format: 'jwk' }));

test('printed settings have every secret masked and all other settings unchanged', () => {
  const text = `
server: { adminToken: ${HIDDEN}1, adminUrl: 'https://bridge.example.com' }
notices: { channels: { chat: { url: 'https://chat.example/${HIDDEN}9', form: slack }, hook: { url: 'https://hook.example', secret: '${WHSEC}' } } }
redis: { url: 'redis+sentinel://bridge:${HIDDEN}2@one.example:26379,two.example/main/1?sentinelPassword=${HIDDEN}3' }
connections:
  default: { tokens: [{ name: a, secret: ${HIDDEN}4 }] }
  hr: { tokens: [{ name: b, secret: ${HIDDEN}5 }], events: { issuer: i, audience: a, key: '${KEY}', otherKeys: ['${KEY}'], push: { endpoint: 'https://c.example', token: ${HIDDEN}8 } } }
targets: { main: { url: 'https://acme.example.com', token: ${HIDDEN}6, scimToken: ${HIDDEN}7 } }`;
  const config = loadText(text);
  const before = structuredClone(config);
  const printable = printableConfig(config);

  expect(JSON.stringify(printable)).not.toContain(HIDDEN);
  expect(printable.connections.hr?.events).toMatchObject({
    key: '***',
    otherKeys: ['***'],
    push: { token: '***' },
  });
  expect(JSON.stringify(printable)).not.toContain(WHSEC);
  expect(printable.notices.channels).toMatchObject({
    chat: { url: '***', secret: null },
    hook: { url: '***', secret: '***' },
  });
  expect(printable.redis.url).toBe(
    'redis+sentinel://bridge:***@one.example:26379,two.example/main/1?sentinelPassword=***',
  );
  expect(printable.connections.hr?.tokens).toEqual([{ name: 'b', secret: '***' }]);
  expect(printable.targets.main).toEqual({ ...config.targets.main, token: '***', scimToken: '***' });
  expect(printable.reconcile).toEqual(config.reconcile);
  expect(config).toEqual(before);
});

test('printed settings show an unset secret as unset', () => {
  const printable = printableConfig(loadText(fileWith()));
  expect(printable.server.adminToken).toBeNull();
  expect(printable.targets.main?.scimToken).toBeNull();
  expect(printable.redis.url).toBe('redis://127.0.0.1:6379');
});

test('printed settings mask the passwords of every node of a Redis cluster and of a single server', () => {
  const addresses = [`redis://bridge:${HIDDEN}@a:1`, `redis://bridge:${HIDDEN}@b:2`];
  const cluster = printableConfig(loadText(fileWith('', `redis: { cluster: ${JSON.stringify(addresses)} }`)));
  expect(cluster.redis.cluster).toEqual(['redis://bridge:***@a:1', 'redis://bridge:***@b:2']);
  const single = printableConfig(loadText(fileWith('', `redis: { url: 'rediss://:${HIDDEN}@c:3/1' }`)));
  expect(single.redis.url).toBe('rediss://:***@c:3/1');
});
