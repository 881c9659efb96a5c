import type { IncomingMessage } from 'node:http';
import { createClientAddress } from '../../../src/http/middleware/client-address.ts';

const from = (peer: string, forwarded?: string, trusted: string[] = ['10.0.0.0/8', 'fd00::/8']): string =>
  createClientAddress(trusted)({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage);

test.each<[string, string, string | undefined, string[] | undefined, string]>([
  ['the peer, without trusted proxies', '10.0.0.1', '1.2.3.4', [], '10.0.0.1'],
  ['the peer, when it is not trusted', '8.8.8.8', '1.2.3.4', undefined, '8.8.8.8'],
  ['whom a trusted peer names', '10.0.0.1', '1.2.3.4', undefined, '1.2.3.4'],
  ['the last one it names, not the first', '10.0.0.1', '6.6.6.6, 1.2.3.4', undefined, '1.2.3.4'],
  [
    'the first behind all trusted ones',
    '10.0.0.1',
    '6.6.6.6, 1.2.3.4, 10.9.9.9, 10.8.8.8',
    undefined,
    '1.2.3.4',
  ],
  ['the outermost proxy, when all are trusted', '10.0.0.1', '10.2.2.2, 10.3.3.3', undefined, '10.2.2.2'],
  ['the proxy itself, when it names nobody', '10.0.0.1', undefined, undefined, '10.0.0.1'],
  ['the proxy itself, when it names nothing', '10.0.0.1', '', undefined, '10.0.0.1'],
  ['an address with a port', '10.0.0.1', '1.2.3.4:5678', undefined, '1.2.3.4'],
  ['IPv6 with a port', 'fd00::1', '[2001:db8::7]:443', undefined, '2001:db8::7'],
  ['IPv4 in the clothes of IPv6', '::ffff:10.0.0.1', '::ffff:1.2.3.4', undefined, '1.2.3.4'],
  ['nobody, where it is no address', '10.0.0.1', 'unknown', undefined, ''],
  ['nobody, behind a name', '10.0.0.1', '1.2.3.4, evil.example', undefined, ''],
  ['nobody, for half an address', '10.0.0.1', '1.2.3', undefined, ''],
])('the client address is taken from peer or proxy: %s', (_what, peer, forwarded, trusted, expected) => {
  expect(from(peer, forwarded, trusted)).toBe(expected);
});

test('a long X-Forwarded-For chain is followed to a bounded depth', () => {
  const chain = `1.2.3.4, ${Array<string>(5000).fill('10.1.1.1').join(',')}`;
  expect(from('10.0.0.1', chain)).toBe('10.1.1.1');
});
