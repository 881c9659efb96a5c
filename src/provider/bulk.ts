// Runs Bulk requests (RFC 7644 §3.7). Each operation has its own result; only a failure that is no SCIM error, such as
// an unavailable Redis, ends the whole request.
import { setImmediate as others } from 'node:timers/promises';
import {
  BULK_RESPONSE_URN,
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

/** State of a running bulk request. `ids` maps each bulkId to the id of its created resource. */
interface Work {
  readonly ids: Map<string, string>;
  /** Context of the operations: headers and projection of the Bulk request do not apply to them. */
  readonly context: RequestContext;
}

const SUCCESS = new Map([
  ['POST', '201'],
  ['PUT', '200'],
  ['PATCH', '200'],
  ['DELETE', '204'],
]);
/** Form of an id that may become part of a location. */
const ID = /^[\w.~-]{1,100}$/;

export type Bulk = ReturnType<typeof createBulk>;

export function createBulk(resources: { Users: Users; Groups: Groups }, profile: Profile) {
  /** Runs all operations. @throws 400 or 413 for the message as a whole; errors that are no SCIM errors */
  async function run(body: unknown, { request, baseUrl }: RequestContext): Promise<Answer> {
    const { operations, failOnErrors } = parseBulkRequest(body, profile);
    const work: Work = { ids: new Map(), context: { request, baseUrl, isSilent: true } };
    const results: (BulkResult | undefined)[] = operations.map(() => undefined);
    let errors = 0;
    for (const step of planBulk(operations)) {
      if (!step) {
        await others();
        continue;
      }
      const operation = operations[step.index];
      const before = results[step.index];
      // After `failOnErrors` errors no operation starts, and operations that have started are completed.
      const isDue = step.kind === 'run' ? errors < failOnErrors : before && !before.response;
      if (!operation || !isDue) continue;
      const result = { ...before, ...(await attempt(operation, step, work)) };
      results[step.index] = result;
      if (result.response) errors++;
    }
    const Operations = results.filter((result) => result !== undefined);
    return { status: 200, text: JSON.stringify({ schemas: [BULK_RESPONSE_URN], Operations }) };
  }

  /** Runs one operation. A SCIM error becomes its result, and the other operations continue. */
  async function attempt(operation: BulkOperation, step: BulkStep, work: Work): Promise<BulkResult> {
    const { method, bulkId, target } = operation;
    const result: BulkResult = { method, status: SUCCESS.get(method) ?? '400' };
    if (bulkId !== undefined) result.bulkId = bulkId;
    try {
      const { etag } = await (step.kind === 'run' ? perform : complete)(operation, step, work);
      if (etag !== undefined) result.version = etag;
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
      result.status = String(error.status);
      result.response = errorBody(error);
    }
    const id = method === 'POST' ? work.ids.get(bulkId ?? '') : replaceReferences(target?.id, work.ids);
    if (target && typeof id === 'string' && ID.test(id))
      result.location = `${work.context.baseUrl}/${target.endpoint}/${id}`;
    return result;
  }

  async function perform(operation: BulkOperation, { data, refers }: BulkStep, work: Work): Promise<Answer> {
    const { method, bulkId, target, version, fault } = operation;
    if (fault) throw fault;
    if (!target) throw new Error('an operation without a target has a fault');
    const resource = resources[target.endpoint];
    const id = String(resolved(target.id, work.ids));
    const context = { ...work.context, ifMatch: version };
    if (method === 'DELETE') return resource.remove(id, context);
    const body = refers ? resolved(data, work.ids) : data;
    if (method === 'PUT') return resource.replace(id, body, context);
    if (method === 'PATCH') return resource.patch(id, patchOf(body), context);
    const answer = await resource.create(body, work.context);
    if (bulkId !== undefined) work.ids.set(bulkId, lastSegment(answer.location));
    return answer;
  }

  // The example in RFC 7644 §3.7.3 sends the list of PATCH operations without the PatchOp message around it.
  const patchOf = (data: unknown): unknown =>
    Array.isArray(data) && profile.allows('message-schema')
      ? { schemas: [PATCH_OP_URN], Operations: data }
      : data;

  /** Adds the references that form a circle, after all its resources were created (RFC 7644 §3.7.1). */
  async function complete(operation: BulkOperation, { data }: BulkStep, work: Work): Promise<Answer> {
    const { bulkId = '', target } = operation;
    const id = work.ids.get(bulkId);
    if (!target || id === undefined) throw new Error('only what was created is completed');
    const value = resolved(data, work.ids, 'The resource is there, but incomplete: ');
    const body = { schemas: [PATCH_OP_URN], Operations: [{ op: 'add', value }] };
    return resources[target.endpoint].patch(id, body, work.context);
  }

  return { run };
}

/** Replaces bulkIds by ids. @throws 409 for a bulkId whose resource was not created */
function resolved(value: unknown, ids: ReadonlyMap<string, string>, preface = ''): unknown {
  for (const name of referencesIn(value)) {
    if (ids.has(name)) continue;
    const reference = JSON.stringify(`bulkId:${name.slice(0, 100)}`);
    throw new ScimError(409, `${preface}${reference} is no resource that this request created.`);
  }
  return replaceReferences(value, ids);
}

const lastSegment = (location = ''): string => location.slice(location.lastIndexOf('/') + 1);
