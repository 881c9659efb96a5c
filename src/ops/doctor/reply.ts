// Makes calls to a platform for doctor, and tells how they failed.
import {
  EndpointAbsent,
  PlatformDecode,
  PlatformIntermediary,
  PlatformResponse,
} from '../../platform/errors.ts';

/**
 * `refused`: an error answer. `absent`: a web page answered, as for an address that the tenant lacks. `proxy`: a redirect, or a
 * refusal in a form that the platform does not use. `unreadable`: a success that cannot be read. `unreachable`: no answer.
 */
export type PlatformReply<T> =
  | { kind: 'answered'; value: T }
  | { kind: 'refused'; status: number; message: string }
  | { kind: 'absent' }
  | { kind: 'proxy'; message: string }
  | { kind: 'unreadable' | 'unreachable'; message: string };

/** Makes a call. @returns its value, or how it failed */
export async function replyOf<T>(call: () => Promise<T>): Promise<PlatformReply<T>> {
  try {
    return { kind: 'answered', value: await call() };
  } catch (failure) {
    if (failure instanceof EndpointAbsent) return { kind: 'absent' };
    if (failure instanceof PlatformIntermediary) return { kind: 'proxy', message: proxyWords(failure) };
    if (failure instanceof PlatformResponse) {
      const { status, platformMessage, message } = failure;
      return { kind: 'refused', status, message: platformMessage || message };
    }
    const kind = failure instanceof PlatformDecode ? 'unreadable' : 'unreachable';
    return { kind, message: (failure as Error).message };
  }
}

/** Returns whether something else than the platform may have answered. */
export const isOfProxy = ({ kind }: PlatformReply<unknown>): boolean => kind === 'absent' || kind === 'proxy';

export const proxyAdvice = (target: string): string =>
  `Check targets.${target}.url, and any proxy before the platform.`;

/**
 * Returns the advice for a failure that is not about the rights of the key. Undefined: the call was answered; or it was refused,
 * or a web page came, and the caller advises.
 */
export function adviceBeforeRights(target: string, reply: PlatformReply<unknown>): string | undefined {
  const status = reply.kind === 'refused' ? reply.status : undefined;
  if (status === 429) return `Wait, or lower targets.${target}.rateLimit.requestsPerSecond.`;
  if (reply.kind === 'proxy') return proxyAdvice(target);
  const isWithoutAnswer = reply.kind === 'unreachable' || reply.kind === 'unreadable';
  const hasFailed = isWithoutAnswer || status === 408 || (status !== undefined && status >= 500);
  return hasFailed ? 'Ask the operator of the platform; changes are kept until it works.' : undefined;
}

/** Returns the reason of a failed call, as a sentence part. @param absent words for a web page */
export function replyWords(
  reply: PlatformReply<unknown>,
  absent = 'a web page answered: the tenant does not have it',
): string {
  if (reply.kind === 'refused') return `${reply.status} ${reply.message}`;
  return 'message' in reply ? reply.message : absent;
}

/** Returns the answer of a proxy as a sentence part. */
function proxyWords({ status, redirectOrigin, platformMessage }: PlatformIntermediary): string {
  if (status < 400)
    return redirectOrigin === undefined
      ? `a redirect (${status})`
      : `a redirect (${status}) to ${redirectOrigin}`;
  return `${status} and a text that is not of the platform (${platformMessage})`;
}
