// Checks the addresses to which the bridge sends secrets, or from which it reads keys: https://, or http:// to this machine where
// `allowLoopbackHttp` beside the address allows it.
import type { ConfigFault } from './faults.ts';
import { isLoopback } from '../support/loopback.ts';
import { checkWebAddress } from './forms.ts';
import { faultsIn } from './places.ts';

interface SecureAddress {
  /** Pattern (`select` in places.ts) of the settings that contain the address, such as `targets/*`. */
  at: string;
  key: string;
  /** Returns the fault of an address that is not well formed. */
  form: (text: string) => string | undefined;
  /** Sentence that says why http:// is refused. */
  why: string;
  /** Advice for http:// to this machine; absent: ADVICE. */
  advice?: string;
}

const ADVICE = 'Use https://, or set allowLoopbackHttp: true beside it for this machine.';

const SECURE_ADDRESSES: readonly SecureAddress[] = [
  {
    at: 'targets/*',
    key: 'url',
    form: checkWebAddress,
    why: 'The platform must be reached by https://, or its key could be read on the way.',
    advice: 'Use https://, or set allowLoopbackHttp: true (PLATFORM_ALLOW_LOOPBACK_HTTP=1) for this machine.',
  },
  {
    // An attacker who changes keys in transit can sign tokens.
    at: 'connections/*/jwt',
    key: 'jwksUri',
    form: mayHaveQuery('https://login.example.com/keys'),
    why: 'The keys must be read by https://, or an attacker on the network could replace them.',
  },
  {
    at: 'connections/*/events/push',
    key: 'endpoint',
    form: mayHaveQuery('https://receiver.example.com/events'),
    why: 'The receiver must be reached by https://, or events could be read on the way.',
  },
  {
    at: 'notices/channels/*',
    key: 'url',
    form: (text) =>
      mayHaveQuery('https://hooks.example.com/bridge')(text) ??
      (new URL(text).hash ? 'Remove everything from # on.' : undefined),
    why: 'The receiver must be reached by https://, or notices could be read on the way.',
  },
  {
    at: 'server/signIn/openid',
    key: 'issuer',
    form: checkWebAddress,
    why: 'The provider must be reached by https://, or anybody could sign in.',
  },
];

export const checkAddresses = (document: unknown): ConfigFault[] =>
  SECURE_ADDRESSES.flatMap(({ at, key, form, why, advice = ADVICE }) =>
    faultsIn(
      document,
      at,
      ({ [key]: text, allowLoopbackHttp }) => {
        if (typeof text !== 'string') return undefined;
        const fault = form(text);
        if (fault !== undefined) return fault;
        const url = new URL(text);
        if (url.protocol === 'https:') return undefined;
        if (url.protocol !== 'http:' || !isLoopback(url)) return why;
        return allowLoopbackHttp === true ? undefined : advice;
      },
      `/${key}`,
    ),
  );

/**
 * Checks the form of an address that may have a query: receivers of events select a stream by it, issuers of JWTs the keys of one
 * application, and webhooks of Teams have a key in it.
 * @param example a right address, for the message
 */
function mayHaveQuery(example: string): SecureAddress['form'] {
  return (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url) return `Not a web address. Write it in full, such as ${example}.`;
    return url.username || url.password ? 'Remove user and password from the address.' : undefined;
  };
}
