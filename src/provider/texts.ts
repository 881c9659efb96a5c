// Converts records of one resource type to answer texts. Groups of users and members of groups are loaded only if needed.
import type { ManyMembers } from '../directory/resources/directory.ts';
import type { Kind, StoredRecord } from '../directory/records.ts';
import { tooMany, type Projection } from '../scim/index.ts';
import { groupText, userText } from './answers.ts';
import type { ProviderDeps } from './context.ts';

/**
 * Groups with at most this many members are loaded together. The members of a larger group take as long as a page of small groups,
 * so larger groups are loaded one after the other.
 */
export const FEW_MEMBERS = 1000;

/** Bytes of one member in an answer, including its address. */
const MEMBER_BYTES = 160;
/** Characters of a user among the members, besides the address of the SCIM root; characters around a value without a user. */
const [USER_CHARACTERS, VALUE_CHARACTERS] = [105, 13];
/** Characters of a list answer around its resources, and some more. */
const ENVELOPE_CHARACTERS = 1024;

interface TextOptions {
  projection?: Projection | undefined;
  /**
   * Returns whether a text of about so many characters is still wanted (Infinity: one that no answer can hold). The texts end
   * before the first large group that is not.
   * Absent: the texts are not shown, a filter reads them.
   */
  fits?: (characters: number) => boolean;
  /** Ends the wait for a turn. */
  signal?: AbortSignal | undefined;
}

export type Texts = ReturnType<typeof createTexts>;

export function createTexts({ directory, userType, groupType, limits, largeAnswers }: ProviderDeps) {
  // A larger answer could not be sent: the unread answers of one connection may take this much (http/admission).
  const most = Math.max(limits.inFlightBytes / 2, 2 * limits.pageBytes) - ENVELOPE_CHARACTERS;

  /**
   * Yields the texts in the order of the records, in portions that are built together.
   * @param wanted returns whether the texts show groups or members
   */
  async function* textsOf(
    kind: Kind,
    records: StoredRecord[],
    baseUrl: string,
    wanted: (name: 'members' | 'groups') => boolean,
    options: TextOptions = {},
  ): AsyncGenerator<string[]> {
    const { projection } = options;
    if (kind === 'User') {
      const groups = wanted('groups') ? await directory.groupsOf(records.map(({ id }) => id)) : [];
      yield records.map((record, index) =>
        userText(userType, record, groups[index] ?? [], baseUrl, projection),
      );
    } else if (wanted('members')) yield* textsWithMembers(records, baseUrl, options);
    else yield records.map((record) => groupText(groupType, record, undefined, baseUrl, projection));
  }

  /** Yields the texts of groups with their members. @throws 400 tooMany for a group that no answer can hold */
  async function* textsWithMembers(
    records: StoredRecord[],
    baseUrl: string,
    options: TextOptions,
  ): AsyncGenerator<string[]> {
    const members = await Promise.all(records.map(({ id }) => directory.membersUpTo(id, FEW_MEMBERS)));
    for (const [index, record] of records.entries()) {
      const found = members[index];
      if (found?.kind !== 'many') yield [groupText(groupType, record, found, baseUrl, options.projection)];
      else if (options.fits?.(isSendable(found, baseUrl) ? sizeOf(found, baseUrl) : Infinity) === false)
        return;
      else yield* largeText(record, found, baseUrl, options);
    }
  }

  /**
   * Yields the text of a group with many members. One large text is built and read at a time: the turn ends when the caller asks
   * for the next text. @throws 400 tooMany, Busy
   */
  async function* largeText(
    record: StoredRecord,
    members: ManyMembers,
    baseUrl: string,
    { projection, fits, signal }: TextOptions,
  ): AsyncGenerator<string[]> {
    if (fits) requireSendable(record, members, baseUrl);
    // Users are as many as people are, but a value without a user may be as long as a name.
    else if (members.bytes > most)
      throw tooLarge(record, members, members.bytes, 'to evaluate a filter on it');
    const isLarge = sizeOf(members, baseUrl) > limits.pageBytes;
    const release = isLarge ? await largeAnswers.enter(signal) : undefined;
    try {
      const all = await directory.membersOf(record.id);
      const text = groupText(groupType, record, all, baseUrl, projection);
      // The size was an estimate, and members may have been added since.
      if (fits && text.length > most) throw tooLarge(record, members, text.length);
      yield [text];
    } finally {
      release?.();
    }
  }

  /** Returns whether an answer can hold the members. */
  const isSendable = (members: ManyMembers, baseUrl: string): boolean =>
    answerSizeOf(members, baseUrl) <= most;

  /** @throws 400 tooMany for a group that no answer can hold */
  function requireSendable(record: StoredRecord, members: ManyMembers, baseUrl: string): void {
    if (!isSendable(members, baseUrl)) throw tooLarge(record, members, answerSizeOf(members, baseUrl));
  }

  return { textsOf, largeText, requireSendable };
}

/** Returns about how many characters the members take in an answer. */
const sizeOf = ({ users, unresolved, bytes }: ManyMembers, baseUrl: string): number =>
  users * (baseUrl.length + USER_CHARACTERS) + unresolved * VALUE_CHARACTERS + bytes;

/** Returns the characters that decide whether an answer can hold the members: each member counts as MEMBER_BYTES at least. */
const answerSizeOf = (members: ManyMembers, baseUrl: string): number =>
  Math.max((members.users + members.unresolved) * MEMBER_BYTES, sizeOf(members, baseUrl));

/** Creates the 400 tooMany for a group. */
function tooLarge(
  { id }: StoredRecord,
  { users, unresolved }: ManyMembers,
  characters: number,
  use = 'for an answer: ask for it with excludedAttributes=members',
): Error {
  const kilobytes = Math.ceil(characters / 1000);
  return tooMany(`Group ${id} has ${users + unresolved} members, about ${kilobytes} kB, too much ${use}.`);
}
