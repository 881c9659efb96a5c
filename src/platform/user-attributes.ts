// Reads and writes user attributes and their values (contract 3.1, 3.2).
import { listOf, optional, readAttribute, readAttributeValue } from './readers.ts';
import { callsOf, type CallOptions, type Send } from './request.ts';
import { listRest } from './rest-list.ts';
import type { AttributeValue, UserAttribute, UserAttributeInput, WireAttributeValueInput } from './wire.ts';

const DEFINITIONS = '/api/v1/user-attributes';
const DEFINITION = `${DEFINITIONS}/{id}`;
const VALUES = '/api/v1/user-attribute-values';
/** Largest number of pages, together 10,000 definitions; a longer list counts as endless. */
const MAX_PAGES = 100;

export type PlatformAttributes = ReturnType<typeof createAttributes>;
export type PlatformValues = ReturnType<typeof createValues>;

/** Reads and writes attribute definitions over `send`; every function throws PlatformError (errors.ts). */
export function createAttributes(send: Send) {
  const call = callsOf(send, 'rest');
  return {
    /** Returns all definitions. @throws IncompleteList when the end of the list is not proven */
    async list(options?: CallOptions): Promise<UserAttribute[]> {
      const all: UserAttribute[] = [];
      const list = { route: DEFINITIONS, read: readAttribute, maxPages: MAX_PAGES };
      for await (const each of listRest(send, list, options)) all.push(each);
      return all;
    },
    /** Not idempotent: after a lost answer, list again. 409 (400 on some tenants) if the name exists. */
    create: (body: UserAttributeInput, options?: CallOptions) =>
      call('POST', DEFINITIONS, { body, read: readAttribute }, options),
    /** Changes label, description or default; name and type never change. */
    update: (
      id: string,
      body: Partial<Pick<UserAttributeInput, 'displayName' | 'description' | 'defaultValue'>>,
      options?: CallOptions,
    ) => call('PUT', DEFINITION, { params: { id }, body, read: readAttribute }, options),
    /** Deletes the definition and the values of all users, irreversibly. */
    delete: (id: string, options?: CallOptions): Promise<void> =>
      call('DELETE', DEFINITION, { params: { id }, read: 'ignore' }, options),
  };
}

/**
 * Reads and writes attribute values over `send`; every function throws PlatformError (errors.ts). The platform has no
 * call that writes several values (contract 3.2).
 */
export function createValues(send: Send) {
  const call = callsOf(send, 'rest');
  return {
    /** Returns the stored values of a console user; null means unset. `userId` is the account id, not the SCIM id. */
    list: (userId: string, options?: CallOptions) =>
      call('GET', `${VALUES}/{userId}`, { params: { userId }, read: listOf(readAttributeValue) }, options),
    /** Sets one value; null clears it. Idempotent. Returns the stored value, or undefined for an answer without body. */
    set(userId: string, attributeId: string, value: AttributeValue, options?: CallOptions) {
      // Ids are text in the request and integers in answers (contract 3.2).
      const body: WireAttributeValueInput = { userId, userAttributeId: attributeId, value };
      return call('POST', VALUES, { body, read: optional(readAttributeValue) }, options);
    },
  };
}
