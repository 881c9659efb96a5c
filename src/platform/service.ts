// The wire to the services beside the tenant, Core Data and chat: an address and a credential of their own.
import { systemClock, type Clock } from '../support/clock.ts';
import { createRedactor } from './redact.ts';
import type { Family, PlatformCall, Send } from './request.ts';
import { checkPositive, checkToken, parseTenantAddress } from './settings.ts';
import { createStreams, type Stream } from './streams.ts';
import { createTransport } from './transport.ts';

/** A token, or where to get one that is still valid; asked before every request. */
export type TokenSource = string | (() => string | Promise<string>);

export interface ServiceOptions {
  allowLoopbackHttp?: boolean;
  /** For one whole request, or until a stream begins, milliseconds; default 60,000. */
  timeoutMs?: number;
  /** Longest silence within a stream, milliseconds; default 120,000. */
  idleTimeoutMs?: number;
  /** Most requests at the same time, streams not counted; default 8. */
  connections?: number;
  /** Awaited before every request: the shared rate budget. What it throws goes through. */
  admit?: (signal?: AbortSignal) => Promise<void>;
  /** Told of every finished request and stream; must not throw. */
  onCall?: (call: PlatformCall) => void;
  /** Default: the system's clock. */
  clock?: Clock;
}

export interface Service {
  send: Send;
  stream: Stream;
  readonly clock: Clock;
  readonly timeoutMs: number;
  close(): Promise<void>;
}

/** How the credential stands in the headers. */
export type CredentialHeaders = (token: string) => Readonly<Record<string, string>>;

/**
 * Checks the options and prepares the wire; connects on the first call. Throws PlatformConfiguration for an address
 * that is not https (or allowed loopback) and for a fixed token that cannot stand in a header.
 */
export function createService(
  url: string,
  token: TokenSource,
  toHeaders: CredentialHeaders,
  options: ServiceOptions,
): Service {
  const address = parseTenantAddress(url, options.allowLoopbackHttp ?? false);
  const timeoutMs = checkPositive('timeoutMs', options.timeoutMs ?? 60_000);
  // The present token and the one before: an answer may still quote the old one.
  let known = typeof token === 'string' ? [checkToken('token', token)] : [];
  let redactor = createRedactor(known);
  const note = (fresh: string): string => {
    if (known[0] === fresh) return fresh;
    known = [checkToken('token', fresh), ...known.slice(0, 1)];
    redactor = createRedactor(known);
    return fresh;
  };
  const fixed = typeof token === 'string' ? toHeaders(token) : undefined;
  const authorize = (
    _family: Family,
  ): ReturnType<CredentialHeaders> | Promise<ReturnType<CredentialHeaders>> =>
    fixed ??
    Promise.resolve(typeof token === 'string' ? token : token()).then((text) => toHeaders(note(text)));
  const wire = {
    address,
    authorize,
    timeoutMs,
    redact: (text: string) => redactor(text),
    clock: options.clock ?? systemClock,
    admit: options.admit,
    onCall: options.onCall,
  };
  const transport = createTransport({
    ...wire,
    connections: checkPositive('connections', options.connections ?? 8),
  });
  const streams = createStreams({
    ...wire,
    idleTimeoutMs: checkPositive('idleTimeoutMs', options.idleTimeoutMs ?? 120_000),
  });
  return {
    send: transport.send,
    stream: streams.stream,
    clock: wire.clock,
    timeoutMs,
    async close() {
      await Promise.all([transport.close(), streams.close()]);
    },
  };
}
