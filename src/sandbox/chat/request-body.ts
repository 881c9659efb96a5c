// Parses the bodies of chat calls; every refusal is 400 (contract 6.2).
import {
  objectList,
  optionalBoolean,
  textOrNull,
  optionalTexts,
  own,
  requireObject,
  requireText,
  type SandboxJsonObject,
} from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { CHAT_LONGEST_INPUT, CHAT_LONGEST_TTL_SECONDS, CHAT_MESSAGE_ID } from '../settings.ts';
import type { Ask } from './threads.ts';

/** `sessionSettings` of a request with an API key, with the properties of contract 6.2; undefined and null = absent. */
export interface RequestedSession {
  readonly externalId: string | null;
  readonly internalId: string | null;
  readonly email: string | null;
  readonly userAttributes: readonly { readonly name: string; readonly value: string }[] | undefined;
  readonly groups: readonly string[] | undefined;
  readonly securityContext: SandboxJsonObject | undefined;
  readonly isEphemeral: boolean | undefined;
  readonly ephemeralTtlSeconds: number | undefined;
}

/** Body of a stream request except for the session. Ask has `input` and `messageId`, null when not sent. */
export interface StreamBody extends Ask {
  /** Null = a new thread. */
  readonly chatId: string | null;
  /** Null = the production branch. */
  readonly activeBranchName: string | null;
  readonly isDefaultBranch: boolean;
}

function isGiven(source: SandboxJsonObject, name: string): boolean {
  const value = own(source, name);
  return value !== undefined && value !== null;
}

/** Returns a text property that may be absent but not empty. */
function nonEmptyTextOrNull(source: SandboxJsonObject, name: string): string | null {
  const text = textOrNull(source, name);
  if (text !== null && text.trim() === '') throw new SandboxProblem(400, `${name} must not be empty`);
  return text;
}

function parseMessageId(body: SandboxJsonObject): string | null {
  const messageId = textOrNull(body, 'messageId');
  if (messageId !== null && !CHAT_MESSAGE_ID.test(messageId))
    throw new SandboxProblem(400, 'messageId must be <timestamp>-message with at least 13 digits');
  return messageId;
}

/** Parses the body except for the session; a request needs `input` or `chatId` (ASSUMED-87). */
export function parseStreamBody(body: SandboxJsonObject): StreamBody {
  const input = nonEmptyTextOrNull(body, 'input');
  const chatId = nonEmptyTextOrNull(body, 'chatId');
  const messageId = parseMessageId(body);
  const activeBranchName = nonEmptyTextOrNull(body, 'activeBranchName');
  const isDefaultBranch = optionalBoolean(body, 'isDefaultBranch') ?? activeBranchName === null;
  if (input !== null && input.length > CHAT_LONGEST_INPUT) throw new SandboxProblem(400, 'input is too long');
  if (input === null && chatId === null) throw new SandboxProblem(400, 'input or chatId is required');
  return { input, chatId, messageId, activeBranchName, isDefaultBranch };
}

function parseExternalId(source: SandboxJsonObject): string | null {
  const externalId = nonEmptyTextOrNull(source, 'externalId');
  if (externalId !== null && (/\s/.test(externalId) || externalId !== externalId.toLowerCase()))
    throw new SandboxProblem(400, 'externalId must be lower case without spaces');
  return externalId;
}

function parseAttributes(source: SandboxJsonObject): RequestedSession['userAttributes'] {
  if (!isGiven(source, 'userAttributes')) return undefined;
  return objectList(source, 'userAttributes').map((entry) => {
    const value = own(entry, 'value');
    if (typeof value !== 'string') throw new SandboxProblem(400, 'value of a user attribute must be text');
    return { name: requireText(entry, 'name'), value };
  });
}

function parseTtl(source: SandboxJsonObject): number | undefined {
  const seconds = own(source, 'ephemeralTtlSeconds') ?? undefined;
  if (seconds === undefined) return undefined;
  const isCount = typeof seconds === 'number' && Number.isSafeInteger(seconds);
  if (!isCount || seconds < 1 || seconds > CHAT_LONGEST_TTL_SECONDS)
    throw new SandboxProblem(
      400,
      `ephemeralTtlSeconds must be a whole number from 1 to ${CHAT_LONGEST_TTL_SECONDS}`,
    );
  return seconds;
}

/** Properties that set rights; an internal user has rights already, so they are refused together with `internalId`. */
const NOT_WITH_INTERNAL = ['roles', 'groups', 'userAttributes', 'securityContext'];

/** Returns `sessionSettings` of the body, or null when absent. */
export function parseSession(body: SandboxJsonObject): RequestedSession | null {
  if (!isGiven(body, 'sessionSettings')) return null;
  const source = requireObject(own(body, 'sessionSettings'), 'sessionSettings');
  const internalId = nonEmptyTextOrNull(source, 'internalId');
  const externalId = parseExternalId(source);
  // The specification does not say whose rights apply with two users, so both ids are refused.
  if (internalId !== null && externalId !== null)
    throw new SandboxProblem(400, 'externalId and internalId exclude each other');
  const extra = NOT_WITH_INTERNAL.find((name) => isGiven(source, name));
  if (internalId !== null && extra !== undefined)
    throw new SandboxProblem(400, `${extra} is not allowed with internalId`);
  return {
    externalId,
    internalId,
    email: textOrNull(source, 'email'),
    userAttributes: parseAttributes(source),
    groups: optionalTexts(source, 'groups'),
    securityContext: isGiven(source, 'securityContext')
      ? requireObject(own(source, 'securityContext'), 'securityContext')
      : undefined,
    isEphemeral: optionalBoolean(source, 'isEphemeral'),
    ephemeralTtlSeconds: parseTtl(source),
  };
}
