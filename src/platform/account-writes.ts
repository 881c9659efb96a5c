// Lists, creates, changes and deletes console users (contract 3.3), for other programs: the bridge manages
// accounts by SCIM.
import { isRecord } from './answer.ts';
import { listOf, readConsoleUser, textId, type Reader } from './readers.ts';
import { callsOf, toWireId, type CallOptions, type Send } from './request.ts';
import { listRest } from './rest-list.ts';
import type { ConsoleUser } from './wire.ts';

/** A new account, with the properties of contract 3.3. */
export interface AccountInput {
  email: string;
  username: string;
  firstName?: string | null;
  externalId?: string | null;
  isAdmin?: boolean;
  defaultRoles?: string[];
  password?: string;
  settings?: Record<string, unknown> | null;
}

/** Absent properties keep their value. */
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

export interface AccountWrites {
  /** Yields all accounts. Throws EndpointAbsent, or PlatformResponse 404, on tenants without the endpoint. */
  list(options?: CallOptions): AsyncIterable<ConsoleUser>;
  /** Not idempotent. PlatformResponse 409 when the username is taken. */
  create(input: AccountInput, options?: CallOptions): Promise<ConsoleUser>;
  /** Absent properties stay. PlatformResponse 403 for the last administrator and for deactivating the token's owner. */
  update(userId: string, change: AccountChange, options?: CallOptions): Promise<ConsoleUser>;
  /** Deletes the account irreversibly. PlatformResponse 400 for the token's owner. */
  delete(userId: string, options?: CallOptions): Promise<void>;
  /** Applies one action to each of 1 to 100 accounts; one failure does not stop the others. */
  bulk(
    action: 'ACTIVATE' | 'DEACTIVATE' | 'DELETE',
    userIds: string[],
    options?: CallOptions,
  ): Promise<BulkOutcome>;
  /** Merges settings of the token's owner; null clears one. */
  updateMySettings(settings: Record<string, unknown>, options?: CallOptions): Promise<ConsoleUser>;
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
    message: typeof message === 'string' ? message : '',
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

/** Manages accounts over `send`; every function throws what `send` throws. */
export function createAccountWrites(send: Send): AccountWrites {
  const call = callsOf(send, 'rest');
  return {
    list: (options) => listRest(send, { route: LIST, read: readConsoleUser }, options),
    create: (body, options) => call('POST', LIST, { body, read: readConsoleUser }, options),
    update: (id, body, options) => call('PUT', ONE, { params: { id }, body, read: readConsoleUser }, options),
    delete: (id, options) => call('DELETE', ONE, { params: { id }, read: 'ignore' }, options),
    async bulk(action, ids, options) {
      const route = `${LIST}/bulk`;
      const context = { method: 'POST', route, correlationId: options?.correlationId };
      const userIds = ids.map((id) => toWireId('userIds', id, context));
      return call('POST', route, { body: { action, userIds }, read: readOutcome }, options);
    },
    updateMySettings: (body, options) =>
      call('PATCH', `${LIST}/me/settings`, { body, read: readConsoleUser }, options),
  };
}
