// Checks one line of a backup before anything is changed: known family, well-formed ids and names, readable values. So a line, also
// of a forged backup, can only store what a push or the service could store too. The family of the line decides which test each of
// its items has to pass (`itemTest`).
import { plainTypeOf, type PlainType } from './archive-families.ts';
import type { ArchiveLine } from './archive.ts';
import { parseStored } from '../records.ts';

/** Returns the fault of a backup line, as the end of a sentence about the line; undefined for a valid line. */
export function faultOf(line: unknown): string | undefined {
  if (typeof line !== 'object' || line === null) return 'is not an object';
  const { items, ...place } = line as Partial<ArchiveLine>;
  const test = itemTest(place);
  if (!test) return `is of no family that this version knows (${JSON.stringify(place.key ?? place.family)})`;
  if (!Array.isArray(items) || items.length === 0) return 'has no items';
  const index = items.findIndex((item) => !test(item));
  return index < 0
    ? undefined
    : `has an item (${index + 1} of ${place.key ?? place.family}) that is not well formed`;
}

/** Divides the items of a line by whether a restore would accept them. */
export function divideItems(line: ArchiveLine): { sound: unknown[]; damaged: unknown[] } {
  const isSound = itemTest(line) ?? (() => false);
  return {
    sound: line.items.filter((item) => isSound(item)),
    damaged: line.items.filter((item) => !isSound(item)),
  };
}

type Test = (value: unknown) => boolean;

/** Returns the test that each item of a line has to pass; undefined when family, target, id or key is not valid. */
function itemTest({ family, id, target, key, type }: Partial<ArchiveLine>): Test | undefined {
  const hasTarget = typeof target === 'string' && NAME.test(target);
  switch (family as ArchiveLine['family']) {
    case 'users':
    case 'groups':
      return isRecord;
    case 'tombstones':
      return isPair(isId, isObjectText);
    // The id of the line is the kind; an item is the id of a resource with its place in the order of creation.
    case 'order':
      return id === 'User' || id === 'Group' ? isPair(isId, isScore) : undefined;
    case 'members':
      return isId(id) ? isId : undefined;
    // A member value without a stored user, and its folded form (keys.ts).
    case 'unresolved':
      return isId(id) ? isPair(isText, isText) : undefined;
    case 'links':
      return hasTarget ? isPair((ref) => isText(ref) && REF.test(String(ref)), isObjectText) : undefined;
    case 'pendingMembers':
      return hasTarget && isId(id) ? isPair(isText, isSign) : undefined;
    case 'plain': {
      const known = typeof key === 'string' ? plainTypeOf(key) : undefined;
      if (known === undefined || known !== type) return undefined;
      return key === 'tokens' ? isToken : PLAIN_ITEMS[known];
    }
    default:
      return undefined;
  }
}

// Forms that a push (ID, REF) and the settings (NAME) accept.
const ID = /^[\w.~-]{1,100}$/;
const REF = /^(User|Group):[\w.~-]{1,100}$/;
const NAME = /^[^:{}\s]{1,200}$/;
/** SHA-256 in base64url without padding. */
const DIGEST = /^[\w-]{43}$/;

// A score arrives as text, as Redis returns it. An object arrives as its JSON text.
const isText: Test = (value) => typeof value === 'string';
const isId: Test = (value) => typeof value === 'string' && ID.test(value);
/** Accepts the sign of a pending membership (lua/signs.lua). */
const isSign: Test = (value) => /^[-+ru]$/.test(String(value));
const isScore: Test = (value) => isText(value) && value !== '' && Number.isFinite(Number(value));
const isObjectText: Test = (value) => parsedObject(value) !== undefined;

function parsedObject(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const isPair = (isFirst: Test, isSecond: Test): Test => {
  return (pair) => Array.isArray(pair) && pair.length === 2 && isFirst(pair[0]) && isSecond(pair[1]);
};

/** Accepts the id and the stored record of a user or group whose text is a SCIM resource. */
const isRecord: Test = (item) => {
  if (!isPair(isId, isText)(item)) return false;
  const [id, stored] = item as [string, string];
  const { version, created, lastModified, text } = parseStored(id, stored);
  const resource = [version, created, lastModified].every(Number.isSafeInteger)
    ? parsedObject(text)
    : undefined;
  return Array.isArray(resource?.schemas);
};

/** Accepts the name and the content of a stored token (stored-tokens.ts). */
const isToken: Test = (item) => {
  if (!isPair((name) => isText(name) && name !== '', isObjectText)(item)) return false;
  const [_name, content] = item as [name: string, content: string];
  const { digest, createdAt, expiresAt } = parsedObject(content) ?? {};
  const hasEnd = expiresAt === null || typeof expiresAt === 'number';
  return typeof digest === 'string' && DIGEST.test(digest) && typeof createdAt === 'number' && hasEnd;
};

/** Accepts an entry of a stream: its id, and a list of field names and values in turn. */
const isStreamEntry: Test = (item) =>
  isPair(
    (id) => /^\d+-\d+$/.test(String(id)),
    (fields) => Array.isArray(fields) && fields.every(isText) && fields.length % 2 === 0,
  )(item);

const PLAIN_ITEMS: Record<PlainType, Test> = {
  string: isText,
  set: isText,
  list: isText,
  hash: isPair(isText, isText),
  zset: isPair(isText, isScore),
  stream: isStreamEntry,
};
