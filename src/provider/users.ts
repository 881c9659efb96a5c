// Implements the SCIM operations on users (RFC 7644 §3). Without If-Match, a PATCH of single values replaces them inside the stored
// text (`replaceValues`), and a PUT of the whole user needs no read (`write`). Any other PATCH, and a PUT with If-Match or one that
// keeps a part of the stored user, reads the user, computes the new one, and stores it unless another write came first (`change`).
import type { Creation, Method, PutOutcome } from '../directory/resources/changes.ts';
import type { GroupName, StoredRecord } from '../directory/records.ts';
import {
  applyPatch,
  checkLengths,
  Comparisons,
  foldCase,
  keepImmutable,
  parsePatch,
  parseProjection,
  parseResource,
  plainValues,
  type PlainValues,
  type Projection,
  type Resource,
  ScimError,
  withActive,
} from '../scim/index.ts';
import {
  contended,
  locationOf,
  missing,
  requireMatch,
  resourceBefore,
  toStored,
  soundText,
  userText,
  WRITE_ATTEMPTS,
  matches,
  weakVersion,
} from './answers.ts';
import { inSlices } from '../support/pace.ts';
import type { Answer, ProviderDeps, RequestContext } from './context.ts';
import { removeResource } from './remove.ts';

export type Users = ReturnType<typeof createUsers>;

export function createUsers(deps: ProviderDeps) {
  const { directory, userType, profile, reviveInactive, limits, pace, clock, ids, serially } = deps;

  /**
   * POST (RFC 7644 §3.3). If the POST means an inactive user (`isRevival`), the body replaces that user, and no user is created.
   * @throws 409 uniqueness when the userName is taken, or the externalId under a profile with unique externalIds
   */
  async function create(body: unknown, context: RequestContext): Promise<Answer> {
    const resource = parseResource(userType, body, profile);
    const id = ids.resource();
    const now = clock.now();
    const text = JSON.stringify(resource);
    checkLengths(resource, text, limits);
    const creation = { id, resource, text, now, request: context.request };
    const first = await directory.createUser(creation);
    const outcome = first.kind === 'taken' ? await storeShared(creation, first, directory.createUser) : first;
    if (outcome.kind === 'taken' && (await isRevival(outcome.holder, resource))) {
      // An If-Match of the POST is not about the version of the inactive user.
      const revived = await replaceWith(outcome.holder, resource, { ...context, ifMatch: undefined });
      return { ...revived, status: 201, location: locationOf(userType, outcome.holder, context.baseUrl) };
    }
    // `toStored` throws the 409 of the outcome `taken`, and returns undefined when the write has to be repeated.
    const stored = toStored('User', id, outcome);
    if (!stored) throw contended();
    return answer(201, { id, text, ...stored }, stored.groups, context);
  }

  /**
   * Returns whether a POST reactivates an inactive user. Providers re-hire by POST (gh:better-auth/better-auth#11111), and 409
   * would leave the person without account. The externalId has to be the same, and identifies the person if externalIds are unique.
   * If they are not unique, or there is none, the userName has to be the same too: another person must not get the id, account and
   * groups of the inactive user.
   * @param holder id of the user who has the userName or externalId of the POST
   */
  async function isRevival(holder: string, resource: Resource): Promise<boolean> {
    if (!reviveInactive) return false;
    const record = await directory.get('User', holder);
    const before = record?.text ? (JSON.parse(record.text) as Resource) : undefined;
    if (before?.active !== false || before.externalId !== resource.externalId) return false;
    if (profile.hasUniqueExternalIds && resource.externalId !== undefined) return true;
    return foldCase(String(before.userName)) === foldCase(String(resource.userName));
  }

  /** GET (RFC 7644 §3.4.1); 304 when If-None-Match names the version. */
  async function get(id: string, context: RequestContext): Promise<Answer> {
    const [user] = await directory.usersOf([id]);
    if (!user) throw missing('User', id);
    const { record, groups } = user;
    // A damaged record is answered with 500, also when If-None-Match names its version.
    soundText('User', record);
    const etag = weakVersion(record.version);
    if (matches(context.ifNoneMatch, etag)) return { status: 304, etag };
    return answer(200, record, groups, context);
  }

  /** PUT (RFC 7644 §3.5.1): replaces the resource by the body; without `active` the user keeps the stored one. */
  async function replace(id: string, body: unknown, context: RequestContext): Promise<Answer> {
    const resource = parseResource(userType, body, profile);
    return replaceWith(id, resource, context, { keepsActive: resource.active === undefined });
  }

  /**
   * Replaces the resource by a parsed one.
   * @param options.keepsActive whether the stored `active` stays, because the request has none. The default of a new user, `true`,
   *   would reactivate a user whom the source has deactivated
   * @throws 404, 409, 412
   */
  async function replaceWith(
    id: string,
    resource: Resource,
    context: RequestContext,
    { keepsActive = false } = {},
  ): Promise<Answer> {
    // The stored resource is read only for If-Match, and for values that the write keeps.
    const needsStored = context.ifMatch !== undefined || userType.immutable.length > 0 || keepsActive;
    const next = (before: Resource): Resource => {
      const wanted = keepsActive ? withActive(userType, resource, before.active) : resource;
      return keepImmutable(userType, before, wanted, 'replace');
    };
    const answered = await inTurn(id, () =>
      needsStored ? change(id, context, 'put', next) : overwrite(id, resource, context, next),
    );
    if (!answered) throw contended();
    return answered;
  }

  /**
   * PATCH (RFC 7644 §3.5.2): applies all operations or none. Under the profile `entra` the answer is 204 unless the client
   * asks for attributes, because Microsoft's validator expects it.
   */
  async function patch(id: string, body: unknown, context: RequestContext): Promise<Answer> {
    const projection = projectionOf(context);
    const answered = await inTurn(id, async () => {
      // A long parsing yields, so it is a part of the turn: a later write must not overtake this one.
      const operations = await inSlices(parsePatch(userType, body, profile), pace());
      // With If-Match the user is read, because the stored version has to be checked first.
      const values = context.ifMatch === undefined ? plainValues(userType, operations) : undefined;
      const replaced = values && (await replaceValues(id, values, context));
      if (replaced) return replaced;
      const comparisons = context.comparisons ?? new Comparisons();
      const recount = comparisons.savepoint();
      return change(id, context, 'patch', (before) => {
        recount();
        return inSlices(applyPatch(userType, before, operations, profile, comparisons), pace());
      });
    });
    const { text, ...withoutBody } = answered;
    const hasBody = text !== undefined && (profile.name !== 'entra' || projection !== undefined);
    return hasBody ? answered : { ...withoutBody, status: 204 };
  }

  /** DELETE (RFC 7644 §3.6). A second DELETE answers 404, and the userName can be used again at once. */
  const remove = (id: string, context: RequestContext): Promise<Answer> =>
    removeResource(deps, 'User', id, context);

  /** Runs PUTs and PATCHes of one user one after the other, in the order of arrival. */
  const inTurn = <T>(id: string, work: () => Promise<T>): Promise<T> => serially(`User:${id}`, work);

  /**
   * Replaces single values inside the stored text.
   * @returns undefined when this is not possible, such as for an attribute without value; nothing was stored then
   */
  async function replaceValues(
    id: string,
    values: PlainValues,
    context: RequestContext,
  ): Promise<Answer | undefined> {
    const outcome = await directory.replaceValues({ id, values, now: clock.now(), request: context.request });
    if (outcome.kind === 'absent') return undefined;
    const stored = toStored('User', id, outcome);
    return stored && answer(200, { id, text: outcome.text, ...stored }, stored.groups, context);
  }

  /** Stores the user without reading the stored one, unless a value is above its limit. */
  async function overwrite(
    id: string,
    resource: Resource,
    context: RequestContext,
    next: (before: Resource) => Resource,
  ): Promise<Answer | undefined> {
    try {
      return await write(id, { resource }, context, 'put');
    } catch (error) {
      // A value above its limit may stay if the stored user has it from the time of a higher limit, which `change` checks.
      if (!(error instanceof ScimError && error.scimType === 'invalidValue')) throw error;
      return change(id, context, 'put', next);
    }
  }

  /** Reads the user, computes the new one with `next`, and stores it. Starts again when another write came between. */
  async function change(
    id: string,
    context: RequestContext,
    method: Method,
    next: (before: Resource) => Resource | Promise<Resource>,
  ): Promise<Answer> {
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      const record = await directory.get('User', id);
      if (!record) throw missing('User', id);
      requireMatch(record, context);
      const before = resourceBefore('User', record, method);
      const resource = await next(before);
      const answered = await write(id, { resource, before, expected: record.version }, context, method);
      if (answered) return answered;
    }
    throw contended();
  }

  /**
   * Stores the resource if the stored version is `expected`, or without that check when `expected` is undefined.
   * @returns undefined when another version is stored
   */
  async function write(
    id: string,
    { resource, before, expected }: { resource: Resource; before?: Resource; expected?: number },
    context: RequestContext,
    method: Method,
  ): Promise<Answer | undefined> {
    const text = JSON.stringify(resource);
    checkLengths(resource, text, limits, before);
    const change = { id, expected, resource, text, now: clock.now(), request: context.request, method };
    const first = await directory.putUser(change);
    const outcome = first.kind === 'taken' ? await storeShared(change, first, directory.putUser) : first;
    const stored = toStored('User', id, outcome);
    return stored && answer(200, { id, text, ...stored }, stored.groups, context);
  }

  /**
   * Stores a user whose externalId another user has. Returns the refusal `taken` unchanged when the userName is taken, or when the
   * profile requires unique externalIds and the stored user does not share this one already.
   */
  async function storeShared<C extends Creation>(
    change: C,
    taken: PutOutcome & { kind: 'taken' },
    store: (change: C) => Promise<PutOutcome>,
  ): Promise<PutOutcome> {
    if (taken.attribute !== 'externalId') return taken;
    const mayShare = !profile.hasUniqueExternalIds || (await isShared(change));
    return mayShare ? store({ ...change, shared: true }) : taken;
  }

  /**
   * Returns whether the stored user already has this externalId, which another user has too, because an earlier profile of the
   * connection allowed that. Pushes of such a user are accepted, so that the identity provider can still deactivate the user.
   * False for a creation, which has no stored user.
   */
  async function isShared({ id, resource }: Creation): Promise<boolean> {
    const record = await directory.get('User', id);
    return !!record?.text && (JSON.parse(record.text) as Resource).externalId === resource.externalId;
  }

  const projectionOf = (context: RequestContext): Projection | undefined =>
    (context.attributes ?? context.excludedAttributes) ? parseProjection(userType, context) : undefined;

  function answer(
    status: number,
    record: StoredRecord,
    groups: GroupName[],
    context: RequestContext,
  ): Answer {
    const { baseUrl, isSilent } = context;
    const answered: Answer = { status, etag: weakVersion(record.version) };
    if (!isSilent) answered.text = userText(userType, record, groups, baseUrl, projectionOf(context));
    if (status === 201) answered.location = locationOf(userType, record.id, baseUrl);
    return answered;
  }

  return { create, get, replace, patch, remove };
}
