// Implements the SCIM operations on groups (RFC 7644 §3). A PUT or PATCH is split into the attributes and the steps of members. A
// PATCH without If-Match that only adds, removes or replaces members by value is a set operation in the directory
// (`changeMembers`): it does not read the group, costs the same for any size of group, and loses no parallel change. Any other PUT
// or PATCH reads the group, computes the new one, and stores it unless another write came between (`readAndPut`).
import type { MemberStep as DirectoryStep, Method } from '../directory/resources/changes.ts';
import type { StoredRecord } from '../directory/records.ts';
import {
  applyPatch,
  checkLengths,
  checkMemberLengths,
  Comparisons,
  keepImmutable,
  membersOf,
  parsePatch,
  parseProjection,
  parseResource,
  splitMembers,
  wants,
  type PatchMemberStep,
  type PatchOperation,
  type Resource,
} from '../scim/index.ts';
import {
  contended,
  groupText,
  locationOf,
  type GroupMemberValues,
  missing,
  type StoredVersion,
  requireMatch,
  resourceBefore,
  toStored,
  soundText,
  WRITE_ATTEMPTS,
  matches,
  weakVersion,
} from './answers.ts';
import { inSlices } from '../support/pace.ts';
import type { Answer, ProviderDeps, RequestContext } from './context.ts';
import { createMemberSteps } from './member-steps.ts';
import { createTexts, FEW_MEMBERS } from './texts.ts';
import { removeResource } from './remove.ts';

export type Groups = ReturnType<typeof createGroups>;

export function createGroups(deps: ProviderDeps) {
  const { directory, groupType, profile, limits, lists, pace, clock, ids, serially } = deps;

  const toSetSteps = createMemberSteps(deps);

  const texts = createTexts(deps);

  /** POST (RFC 7644 §3.3). @throws 409 uniqueness when displayName or externalId is taken */
  async function create(body: unknown, context: RequestContext): Promise<Answer> {
    const resource = parseResource(groupType, body, profile);
    const members = membersOf(body, profile) ?? [];
    const id = ids.resource();
    const text = JSON.stringify(resource);
    checkLengths(resource, text, limits);
    checkMemberLengths(members, limits);
    // expected 0: no group has the id yet.
    const change = { id, expected: 0, resource, text, now: clock.now(), request: context.request };
    const steps: DirectoryStep[] = members.length > 0 ? [{ kind: 'add', values: members }] : [];
    const stored = toStored('Group', id, await directory.putGroup(change, steps));
    if (!stored) throw contended();
    return answer(201, { id, text, ...stored }, context);
  }

  /** GET (RFC 7644 §3.4.1); 304 when If-None-Match names the version. */
  async function get(id: string, context: RequestContext): Promise<Answer> {
    const record = await directory.get('Group', id);
    if (!record) throw missing('Group', id);
    // A damaged record is answered with 500, also when If-None-Match names its version.
    soundText('Group', record);
    const etag = weakVersion(record.version);
    if (matches(context.ifNoneMatch, etag)) return { status: 304, etag };
    return answer(200, record, context, { isRead: true });
  }

  /**
   * PUT (RFC 7644 §3.5.1). Without a `members` key the members are kept, because some providers omit the key; under the profile
   * `rfc` they are removed.
   */
  async function replace(id: string, body: unknown, context: RequestContext): Promise<Answer> {
    const resource = parseResource(groupType, body, profile);
    const members = membersOf(body, profile);
    if (members) checkMemberLengths(members, limits);
    const keepsMembers = members === undefined && profile.name !== 'rfc';
    const steps: PatchMemberStep[] = keepsMembers ? [] : [{ kind: 'replace', values: members ?? [] }];
    const next = (before: Resource): Resource => keepImmutable(groupType, before, resource, 'replace');
    return answer(200, await readAndPut(id, context, 'put', next, steps), context);
  }

  /** PATCH (RFC 7644 §3.5.2). Answers 204 unless the client asks for attributes, because a body would list all members. */
  async function patch(id: string, body: unknown, context: RequestContext): Promise<Answer> {
    const { rest, steps } = splitMembers(await inSlices(parsePatch(groupType, body, profile), pace()));
    const comparisons = context.comparisons ?? new Comparisons();
    const recount = comparisons.savepoint();
    for (const step of steps) if ('values' in step) checkMemberLengths(step.values, limits);
    const next = (before: Resource): Promise<Resource> => {
      recount();
      return inSlices(applyPatch(groupType, before, rest, profile, comparisons), pace());
    };
    const { version } = changesMembersOnly(rest, steps, context)
      ? await changeMembers(id, steps, context)
      : await readAndPut(id, { ...context, comparisons }, 'patch', next, steps);
    if (context.attributes === undefined && context.excludedAttributes === undefined) {
      return { status: 204, etag: weakVersion(version) };
    }
    const record = await directory.get('Group', id);
    if (!record) throw missing('Group', id);
    soundText('Group', record);
    // The write is done, so too many members are left out of the answer and cause no error (`textOf`).
    return answer(200, record, context);
  }

  /** DELETE (RFC 7644 §3.6). */
  const remove = (id: string, context: RequestContext): Promise<Answer> =>
    removeResource(deps, 'Group', id, context);

  /** Reads the group, computes the new one with `next`, and stores it. Starts again when another write came between. */
  function readAndPut(
    id: string,
    context: RequestContext,
    method: Method,
    next: (before: Resource) => Resource | Promise<Resource>,
    steps: readonly PatchMemberStep[],
  ): Promise<StoredRecord> {
    return serially(`Group:${id}`, async () => {
      for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
        const record = await directory.get('Group', id);
        if (!record) throw missing('Group', id);
        requireMatch(record, context);
        const before = resourceBefore('Group', record, method);
        const resource = await next(before);
        const text = JSON.stringify(resource);
        checkLengths(resource, text, limits, before);
        const write = {
          id,
          expected: record.version,
          resource,
          text,
          now: clock.now(),
          request: context.request,
          method,
        };
        const stored = toStored(
          'Group',
          id,
          await directory.putGroup(write, await toSetSteps(id, steps, context)),
        );
        if (stored) return { id, text, ...stored };
      }
      throw contended();
    });
  }

  /** Changes the members without reading the group. @throws 404 */
  async function changeMembers(
    id: string,
    steps: readonly PatchMemberStep[],
    context: RequestContext,
  ): Promise<StoredVersion> {
    // `changesMembersOnly` lets no steps through that the directory does not know (`removeWhere`, `expect`).
    const change = { id, now: clock.now(), request: context.request, steps: steps as DirectoryStep[] };
    const stored = toStored('Group', id, await directory.changeMembers(change));
    if (!stored) throw contended();
    return stored;
  }

  async function answer(
    status: number,
    record: StoredRecord,
    context: RequestContext,
    { isRead = false } = {},
  ): Promise<Answer> {
    const answered: Answer = { status, etag: weakVersion(record.version) };
    if (!context.isSilent) answered.text = await textOf(record, context, isRead);
    if (status === 201) answered.location = locationOf(groupType, record.id, context.baseUrl);
    return answered;
  }

  /**
   * Returns the text of a group with its members. The answer to a write leaves the members out when there are too many: the write
   * is done, and an error would make the client repeat the write.
   * @param isRead whether the text answers a read, not a write
   * @throws 400 tooMany when a read asks for too many members, Busy (answered with 503) when a read is not admitted in time
   */
  async function textOf(record: StoredRecord, context: RequestContext, isRead: boolean): Promise<string> {
    const projection = parseProjection(groupType, context);
    const textWith = (members: GroupMemberValues | undefined): string =>
      groupText(groupType, record, members, context.baseUrl, projection);
    if (!wants(projection, 'members')) return textWith(undefined);
    const members = await directory.membersUpTo(record.id, FEW_MEMBERS);
    if (members.kind === 'listed') return textWith(members);
    const all = async (): Promise<string> => {
      texts.requireSendable(record, members, context.baseUrl);
      const signal = context.untilLeft?.();
      return lists.run(async () => {
        let whole = '';
        const options = { projection, fits: () => true, signal };
        for await (const [text = ''] of texts.largeText(record, members, context.baseUrl, options))
          whole = text;
        return whole;
      }, signal);
    };
    // A write is done even if its members cannot be read: the answer then leaves them out.
    return isRead ? all() : all().catch(() => textWith(undefined));
  }

  return { create, get, replace, patch, remove };
}

/** Returns whether a PATCH only adds, removes or replaces members by value, without If-Match: then the group is not read. */
function changesMembersOnly(
  rest: PatchOperation[],
  steps: readonly PatchMemberStep[],
  context: RequestContext,
): boolean {
  return (
    rest.length === 0 &&
    context.ifMatch === undefined &&
    steps.every(({ kind }) => kind !== 'removeWhere' && kind !== 'expect')
  );
}
