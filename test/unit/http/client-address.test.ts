// Tests how the address of a client is found behind trusted proxies.
import type { IncomingMessage } from 'node:http';
import { createClientAddress } from '../../../src/http/middleware/client-address.ts';

const from = (peer: string, forwarded?: string, trusted: string[] = ['10.0.0.0/8', 'fd00::/8']): string =>
  createClientAddress(trusted)({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage);

test.each<[string, string, string | undefined, string[] | undefined, string]>([
  ['without trusted proxies, the peer', '10.0.0.1', '1.2.3.4', [], '10.0.0.1'],
  ['with an untrusted peer, the peer', '8.8.8.8', '1.2.3.4', undefined, '8.8.8.8'],
  ['with a trusted peer, the forwarded address', '10.0.0.1', '1.2.3.4', undefined, '1.2.3.4'],
  ['the last forwarded address, not the first', '10.0.0.1', '6.6.6.6, 1.2.3.4', undefined, '1.2.3.4'],
  [
    'the last forwarded address that is no trusted proxy',
    '10.0.0.1',
    '6.6.6.6, 1.2.3.4, 10.9.9.9, 10.8.8.8',
    undefined,
    '1.2.3.4',
  ],
  [
    'if all addresses are trusted, the first forwarded one',
    '10.0.0.1',
    '10.2.2.2, 10.3.3.3',
    undefined,
    '10.2.2.2',
  ],
  ['without X-Forwarded-For, the trusted peer', '10.0.0.1', undefined, undefined, '10.0.0.1'],
  ['with an empty X-Forwarded-For, the trusted peer', '10.0.0.1', '', undefined, '10.0.0.1'],
  ['a forwarded IPv4 address loses its port', '10.0.0.1', '1.2.3.4:5678', undefined, '1.2.3.4'],
  ['a forwarded IPv6 address loses its port', 'fd00::1', '[2001:db8::7]:443', undefined, '2001:db8::7'],
  ['an IPv4-mapped IPv6 address becomes IPv4', '::ffff:10.0.0.1', '::ffff:1.2.3.4', undefined, '1.2.3.4'],
  ['unknown, if the forwarded text is no address', '10.0.0.1', 'unknown', undefined, ''],
  ['unknown, if the last forwarded text is a host name', '10.0.0.1', '1.2.3.4, evil.example', undefined, ''],
  ['unknown, if the forwarded address is incomplete', '10.0.0.1', '1.2.3', undefined, ''],
])(
  'the client address is read from the peer or X-Forwarded-For: %s',
  (_what, peer, forwarded, trusted, expected) => {
    expect(from(peer, forwarded, trusted)).toBe(expected);
  },
);

test('X-Forwarded-For has 5,001 addresses → only the last 20 are read, and the first address is not used', () => {
  const chain = `1.2.3.4, ${Array<string>(5000).fill('10.1.1.1').join(',')}`;
  expect(from('10.0.0.1', chain)).toBe('10.1.1.1');
});
