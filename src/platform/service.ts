// Builds the transport of the clients of Core Data and chat, which have their own addresses and credentials.
import { systemClock, type Clock } from '../support/sources.ts';
import type { PlatformClientOptions } from './connect.ts';
import { createRedactor, type RedactText } from './redact.ts';
import type { Send } from './request.ts';
import { checkPositive, checkToken, parseTenantAddress } from './settings.ts';
import { createStreams, type OpenStream } from './streams.ts';
import { createTransport } from './transport.ts';

/** A token, or a function that returns a valid one; called before every request. */
export type TokenSource = string | (() => string | Promise<string>);

export interface ServiceOptions extends Pick<
  PlatformClientOptions,
  'allowLoopbackHttp' | 'connections' | 'admit' | 'onStart' | 'onCall' | 'clock'
> {
  /** Time for one request, or until a stream begins, milliseconds; default 60,000. */
  timeoutMs?: number;
  /** Longest pause within a stream, milliseconds; default 120,000. */
  idleTimeoutMs?: number;
}

export interface Service {
  /** Sends a request whose answer is read as a whole. */
  send: Send;
  /** Sends a request whose answer is read piece by piece. */
  stream: OpenStream;
  /** Removes the tokens from a text of the platform. */
  readonly redact: RedactText;
  readonly clock: Clock;
  close(): Promise<void>;
}

/** Returns the headers that carry the credential. */
type CredentialHeaders = (token: string) => Headers;

type Headers = Readonly<Record<string, string>>;

/**
 * Checks the options and builds the transport; it connects on the first call. Throws PlatformConfiguration for
 * an address that is not https (or allowed loopback), a fixed token that is not valid in a header, and an invalid number.
 */
export function createService(
  url: string,
  token: TokenSource,
  toHeaders: CredentialHeaders,
  options: ServiceOptions,
): Service {
  const address = parseTenantAddress(url, options.allowLoopbackHttp ?? false);
  const timeoutMs = checkPositive('timeoutMs', options.timeoutMs ?? 60_000);
  // The current and the previous token: an answer may still quote the previous one.
  let knownTokens = typeof token === 'string' ? [checkToken('token', token)] : [];
  let redactor = createRedactor(knownTokens);
  const noteToken = (current: string): void => {
    if (knownTokens[0] === current) return;
    knownTokens = [checkToken('token', current), ...knownTokens.slice(0, 1)];
    redactor = createRedactor(knownTokens);
  };
  const fetchHeaders = async (source: () => string | Promise<string>): Promise<Headers> => {
    const current = await source();
    noteToken(current);
    return toHeaders(current);
  };
  const common = {
    address,
    authorize: () => (typeof token === 'string' ? toHeaders(token) : fetchHeaders(token)),
    timeoutMs,
    redact: (text: string) => redactor(text),
    clock: options.clock ?? systemClock,
    admit: options.admit,
    onStart: options.onStart,
    onCall: options.onCall,
  };
  const transport = createTransport({
    ...common,
    connections: checkPositive('connections', options.connections ?? 8),
  });
  const streams = createStreams({
    ...common,
    idleTimeoutMs: checkPositive('idleTimeoutMs', options.idleTimeoutMs ?? 120_000),
  });
  return {
    send: transport.send,
    stream: streams.stream,
    redact: common.redact,
    clock: common.clock,
    async close() {
      await Promise.all([transport.close(), streams.close()]);
    },
  };
}
