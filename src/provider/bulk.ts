// Runs Bulk requests (RFC 7644 §3.7). Each operation has its own result; only a failure that is no SCIM error, such as
// an unavailable Redis, ends the whole request.
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  BULK_RESPONSE_URN,
  Comparisons,
  errorBody,
  parseBulkRequest,
  PATCH_OP_URN,
  planBulk,
  referencesIn,
  replaceReferences,
  ScimError,
  type BulkOperation,
  type BulkStep,
  type Profile,
} from '../scim/index.ts';
import type { Answer, RequestContext } from './context.ts';
import type { Groups } from './groups.ts';
import type { Users } from './users.ts';

/** One entry of the BulkResponse (RFC 7644 §3.7.3). Bodies of successes are left out, as the RFC allows. */
interface BulkResult {
  method: string;
  bulkId?: string;
  version?: string;
  location?: string;
  status: string;
  response?: object;
}

/** State of a running bulk request. */
interface BulkState {
  /** The id of each created resource by bulkId. No bulkId is empty, so the key '' finds nothing. */
  readonly ids: Map<string, string>;
  /** Context of the operations: headers and projection of the Bulk request do not apply, and answers need no body (BulkResult). */
  readonly context: RequestContext;
}

/** Status of a successful operation, by method. */
const SUCCESS = new Map([
  ['POST', '201'],
  ['PUT', '200'],
  ['PATCH', '200'],
  ['DELETE', '204'],
]);
/** Form of an id that may become part of a location. */
const ID = /^[\w.~-]{1,100}$/;

export function createBulk(resources: { Users: Users; Groups: Groups }, profile: Profile) {
  /** Runs all operations. @throws 400 or 413 for the message as a whole, and every error that is no ScimError */
  async function run(body: unknown, { request, baseUrl }: RequestContext): Promise<Answer> {
    const { operations, failOnErrors } = parseBulkRequest(body, profile);
    const state: BulkState = {
      ids: new Map(),
      context: { request, baseUrl, isSilent: true, comparisons: new Comparisons() },
    };
    const results: (BulkResult | undefined)[] = operations.map(() => undefined);
    let errors = 0;
    for (const step of planBulk(operations)) {
      // `planBulk` yields undefined now and then while it works on a large body, so that other requests get a turn.
      if (!step) {
        await nextTurn();
        continue;
      }
      const operation = operations[step.index];
      const before = results[step.index];
      // After `failOnErrors` errors no further operation starts, but created resources still get their references (`complete`).
      const isDue = step.kind === 'run' ? errors < failOnErrors : before && !before.response;
      if (!operation || !isDue) continue;
      const result = { ...before, ...(await attempt(operation, step, state)) };
      results[step.index] = result;
      if (result.response) errors++;
    }
    const Operations = results.filter((result) => result !== undefined);
    return { status: 200, text: JSON.stringify({ schemas: [BULK_RESPONSE_URN], Operations }) };
  }

  /** Runs one operation. A SCIM error becomes its result, and the other operations continue. */
  async function attempt(operation: BulkOperation, step: BulkStep, state: BulkState): Promise<BulkResult> {
    const { method, bulkId, target } = operation;
    // For a method that SUCCESS lacks, `perform` throws the fault of the operation, and the status of the fault replaces this 400.
    const result: BulkResult = { method, status: SUCCESS.get(method) ?? '400' };
    if (bulkId !== undefined) result.bulkId = bulkId;
    try {
      const runStep = step.kind === 'run' ? perform : complete;
      const { etag } = await runStep(operation, step, state);
      if (etag !== undefined) result.version = etag;
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
      result.status = String(error.status);
      result.response = errorBody(error);
    }
    const id = method === 'POST' ? state.ids.get(bulkId ?? '') : replaceReferences(target?.id, state.ids);
    if (target && typeof id === 'string' && ID.test(id))
      result.location = `${state.context.baseUrl}/${target.endpoint}/${id}`;
    return result;
  }

  /** Runs one operation as the request that it stands for. @throws ScimError */
  async function perform(
    operation: BulkOperation,
    { data, refers }: BulkStep,
    state: BulkState,
  ): Promise<Answer> {
    const { method, bulkId, target, version, fault } = operation;
    if (fault) throw fault;
    if (!target) throw new Error('an operation without fault has no target');
    const resource = resources[target.endpoint];
    // A body without bulkIds is passed on as it is.
    const readBody = (): unknown => (refers ? resolved(data, state.ids) : data);
    if (method === 'POST') {
      const answer = await resource.create(readBody(), state.context);
      if (bulkId !== undefined) state.ids.set(bulkId, lastSegment(answer.location));
      return answer;
    }
    const id = String(resolved(target.id, state.ids));
    const context = { ...state.context, ifMatch: version };
    if (method === 'DELETE') return resource.remove(id, context);
    const body = readBody();
    return method === 'PUT'
      ? resource.replace(id, body, context)
      : resource.patch(id, patchOf(body), context);
  }

  // The example in RFC 7644 §3.7.3 sends the list of PATCH operations without the PatchOp message around it.
  const patchOf = (data: unknown): unknown =>
    Array.isArray(data) && profile.allows('message-schema')
      ? { schemas: [PATCH_OP_URN], Operations: data }
      : data;

  /** Adds the references of a circular reference, after all its resources were created (RFC 7644 §3.7.1). */
  async function complete(operation: BulkOperation, { data }: BulkStep, state: BulkState): Promise<Answer> {
    const { bulkId = '', target } = operation;
    const id = state.ids.get(bulkId);
    if (!target || id === undefined) throw new Error('a resource is completed before it was created');
    const value = resolved(data, state.ids, 'The resource was created, but without all references: ');
    const body = { schemas: [PATCH_OP_URN], Operations: [{ op: 'add', value }] };
    return resources[target.endpoint].patch(id, body, state.context);
  }

  return { run };
}

/** Replaces bulkIds by ids. @throws 409 for a bulkId whose resource was not created */
function resolved(value: unknown, ids: ReadonlyMap<string, string>, preface = ''): unknown {
  for (const name of referencesIn(value)) {
    if (ids.has(name)) continue;
    const reference = JSON.stringify(`bulkId:${name.slice(0, 100)}`);
    throw new ScimError(409, `${preface}${reference} does not name a resource that this request created.`);
  }
  return replaceReferences(value, ids);
}

const lastSegment = (location = ''): string => location.slice(location.lastIndexOf('/') + 1);
