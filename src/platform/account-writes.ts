// Creates, changes and deletes console users (contract 3.3), for other programs: the bridge manages accounts by SCIM.
import { isRecord, textOrEmpty, listOf, readConsoleUser, textId, type Reader } from './readers.ts';
import { callsOf, toWireId, type CallOptions, type Send } from './request.ts';

/** A new account, with the properties of contract 3.3. */
export interface AccountInput {
  email: string;
  /** Name to sign in with, unique at the tenant. */
  username: string;
  firstName?: string | null;
  externalId?: string | null;
  isAdmin?: boolean;
  defaultRoles?: string[];
  password?: string;
  settings?: Record<string, unknown> | null;
}

/** Change of an account; absent properties keep their value. */
export interface AccountChange {
  firstName?: string | null;
  title?: string | null;
  isAdmin?: boolean;
  isDeactivated?: boolean;
  password?: string;
  settings?: Record<string, unknown> | null;
}

export interface BulkOutcome {
  /** Account ids, in the order of the platform. */
  succeeded: string[];
  /** `status` is 0 and `message` empty where the platform does not send them. */
  failed: { userId: string; status: number; message: string }[];
}

const LIST = '/api/v1/users';
const ONE = `${LIST}/{id}`;

const readFailure: Reader<BulkOutcome['failed'][number]> = (body, refuse) => {
  const { userId, error } = isRecord(body) ? body : {};
  const id = textId(userId);
  if (id === undefined) throw refuse('a failed account without a usable id');
  const { status, message } = isRecord(error) ? error : {};
  return {
    userId: id,
    status: typeof status === 'number' ? status : 0,
    message: textOrEmpty(message),
  };
};

const readId: Reader<string> = (body, refuse) => {
  const id = textId(body);
  if (id === undefined) throw refuse('an account without a usable id');
  return id;
};

const readOutcome: Reader<BulkOutcome> = (body, refuse) => {
  const { succeeded, failed } = isRecord(body) ? body : {};
  return { succeeded: listOf(readId)(succeeded, refuse), failed: listOf(readFailure)(failed, refuse) };
};

export type AccountWrites = ReturnType<typeof createAccountWrites>;

/** Manages accounts over `send`; every function throws PlatformError (errors.ts). */
export function createAccountWrites(send: Send) {
  const call = callsOf(send, 'rest');
  return {
    /** Not idempotent. @throws PlatformResponse 409 when the username is taken. */
    create: (body: AccountInput, options?: CallOptions) =>
      call('POST', LIST, { body, read: readConsoleUser }, options),
    /** Absent properties stay. @throws PlatformResponse 403 for the last administrator and for deactivating the token's owner. */
    update: (id: string, body: AccountChange, options?: CallOptions) =>
      call('PUT', ONE, { params: { id }, body, read: readConsoleUser }, options),
    /** Deletes the account irreversibly. @throws PlatformResponse 400 for the token's owner. */
    delete: (id: string, options?: CallOptions): Promise<void> =>
      call('DELETE', ONE, { params: { id }, read: 'ignore' }, options),
    /** Applies one action to each account; the platform takes 1 to 100 ids. A failure at one account does not stop the others. */
    async bulk(action: 'ACTIVATE' | 'DEACTIVATE' | 'DELETE', ids: string[], options?: CallOptions) {
      const route = `${LIST}/bulk`;
      const context = { method: 'POST', route, correlationId: options?.correlationId };
      const userIds = ids.map((id) => toWireId('userIds', id, context));
      return call('POST', route, { body: { action, userIds }, read: readOutcome }, options);
    },
    /** Merges `body` into the settings of the token's owner; null clears a setting. */
    updateMySettings: (body: Record<string, unknown>, options?: CallOptions) =>
      call('PATCH', `${LIST}/me/settings`, { body, read: readConsoleUser }, options),
  };
}
