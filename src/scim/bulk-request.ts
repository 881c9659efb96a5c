// The body of POST /Bulk (RFC 7644 section 3.7): its operations, what they refer to, and the order that serves all.
import { invalidSyntax, invalidValue, methodNotAllowed, notFound, payloadTooLarge } from './errors.ts';
import type { ScimError } from './errors.ts';
import { MAX_PATCH_OPERATIONS } from './patch/operation.ts';
import type { Profile } from './profiles.ts';
import { isObject, type JsonObject } from './validate.ts';

export const BULK_REQUEST_URN = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
export const BULK_RESPONSE_URN = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';

/** Announced as `bulk.maxOperations`. authentik takes that number for the longest PATCH too, so it is the same one. */
export const MAX_BULK_OPERATIONS = MAX_PATCH_OPERATIONS;

export interface BulkOperation {
  /** As it was sent: every result repeats it. */
  readonly method: string;
  readonly bulkId: string | undefined;
  /** Where `path` leads; `id` may be `bulkId:…`. Undefined when it leads nowhere. */
  readonly target: { readonly endpoint: 'Users' | 'Groups'; readonly id: string | undefined } | undefined;
  /** Stands for If-Match. */
  readonly version: string | undefined;
  readonly data: unknown;
  /** Why the operation is refused without being tried. */
  readonly fault: ScimError | undefined;
}

export interface BulkRequest {
  /** So many errors end the work; Infinity when the client set no limit. */
  readonly failOnErrors: number;
  readonly operations: readonly BulkOperation[];
}

/** An id is bounded and valid Unicode, as it would be in the address of a request. */
const PATH = /^\/(Users|Groups)(?:\/([^/?#\p{Surrogate}]{1,1000}))?\/?$/u;

/** An own member by name without case (RFC 7643 section 2.1); exact spelling first, null is none. */
function member(body: JsonObject, name: string): unknown {
  const lower = name.toLowerCase();
  const key = Object.hasOwn(body, name)
    ? name
    : Object.keys(body).find((each) => each.toLowerCase() === lower);
  return key === undefined ? undefined : (body[key] ?? undefined);
}

function text(body: JsonObject, name: string, position: number): string | undefined {
  const value = member(body, name);
  if (value === undefined || typeof value === 'string') return value;
  throw invalidSyntax(`Operation ${position}: "${name}" must be text.`);
}

function faultOf(method: string, target: BulkOperation['target'], bulkId: string | undefined) {
  if (!['POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
    return invalidSyntax('"method" must be POST, PUT, PATCH or DELETE.');
  if (!target) return notFound('"path" must be "/Users" or "/Groups", followed by an id if it exists.');
  if ((method === 'POST') !== (target.id === undefined))
    return methodNotAllowed(target.id === undefined ? ['POST'] : ['PUT', 'PATCH', 'DELETE']);
  if (method === 'POST' && !bulkId) return invalidValue('A POST needs a "bulkId".');
  return undefined;
}

function toOperation(raw: unknown, position: number): BulkOperation {
  if (!isObject(raw)) throw invalidSyntax(`Operation ${position} must be an object.`);
  const method = text(raw, 'method', position);
  if (method === undefined) throw invalidSyntax(`Operation ${position}: "method" is missing.`);
  const bulkId = text(raw, 'bulkId', position);
  const [, endpoint, id] = PATH.exec(text(raw, 'path', position) ?? '') ?? [];
  const target: BulkOperation['target'] =
    endpoint === 'Users' || endpoint === 'Groups' ? { endpoint, id } : undefined;
  const version = text(raw, 'version', position);
  return {
    method,
    bulkId,
    target,
    version,
    data: member(raw, 'data'),
    fault: faultOf(method, target, bulkId),
  };
}

function failOnErrorsOf(body: JsonObject, profile: Profile): number {
  const raw = member(body, 'failOnErrors') ?? Infinity;
  const isNumeral = typeof raw === 'string' && /^\d{1,9}$/.test(raw) && profile.allows('string-numbers');
  const limit = isNumeral ? Number(raw) : raw;
  if (limit === Infinity || (Number.isSafeInteger(limit) && Number(limit) > 0)) return Number(limit);
  throw invalidValue('"failOnErrors" must be a whole number above 0.');
}

/**
 * What is wrong with one operation is kept as its `fault`; what is wrong with the message is thrown.
 * @throws 400 invalidSyntax (no BulkRequest, an operation that can not be read), 400 invalidValue (failOnErrors, a
 * bulkId used twice, nothing to do), 413 for more than MAX_BULK_OPERATIONS (section 3.7.4).
 */
export function parseBulkRequest(body: unknown, profile: Profile): BulkRequest {
  if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const schemas = member(body, 'schemas');
  const isBulkRequest = Array.isArray(schemas) && schemas.includes(BULK_REQUEST_URN);
  if (!isBulkRequest && !profile.allows('message-schema'))
    throw invalidSyntax(`"schemas" must be ["${BULK_REQUEST_URN}"].`);
  const listed = member(body, 'Operations');
  if (!Array.isArray(listed)) throw invalidSyntax('"Operations" must be a list.');
  if (listed.length > MAX_BULK_OPERATIONS)
    throw payloadTooLarge(`A bulk request may hold ${MAX_BULK_OPERATIONS} operations (maxOperations).`);
  if (listed.length === 0 && !profile.allows('empty-operations'))
    throw invalidValue('"Operations" is empty.');
  const failOnErrors = failOnErrorsOf(body, profile);
  const operations = listed.map((raw: unknown, index) => toOperation(raw, index + 1));
  const seen = new Set<string>();
  for (const { bulkId } of operations) {
    if (bulkId === undefined) continue;
    if (seen.has(bulkId)) throw invalidValue(`bulkId ${JSON.stringify(bulkId.slice(0, 100))} is used twice.`);
    seen.add(bulkId);
  }
  return { failOnErrors, operations };
}

/** `bulkId:x` alone, or at the end of a resource address as in `$ref`. */
const REFERENCE = /^(\S*\/(?:Users|Groups)\/)?bulkId:(.+)$/s;
/** Deeper data is refused by whoever reads it, so nobody need look there. */
const MAX_DEPTH = 40;

/** The bulkIds that `value` refers to, anywhere in it (section 3.7.2). */
export function referencesIn(value: unknown): Set<string> {
  const found = new Set<string>();
  collect(value, found, 0);
  return found;
}

function collect(value: unknown, found: Set<string>, depth: number): void {
  if (typeof value === 'string') {
    const name = REFERENCE.exec(value)?.[2];
    if (name !== undefined) found.add(name);
  } else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    for (const part of Object.values(value)) collect(part, found, depth + 1);
  }
}

/** A copy in which references to the known bulkIds are ids. */
export function replaceReferences(value: unknown, ids: ReadonlyMap<string, string>, depth = 0): unknown {
  if (typeof value === 'string') {
    const [, address = '', name = ''] = REFERENCE.exec(value) ?? [];
    const id = ids.get(name);
    return id === undefined ? value : address + id;
  }
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((part) => replaceReferences(part, ids, depth + 1));
  // fromEntries defines keys, an assignment to `__proto__` would not.
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, replaceReferences(part, ids, depth + 1)]),
  );
}

/**
 * Parts a new resource into what can be stored at once and what waits for the pending bulkIds: list elements such as
 * members, and complex attributes such as manager. Undefined when a simple value waits, which may be a required one.
 */
export function postpone(
  data: unknown,
  pending: ReadonlySet<string>,
): { now: JsonObject; later: JsonObject } | undefined {
  if (!isObject(data)) return undefined;
  const waits = (value: unknown): boolean => [...referencesIn(value)].some((name) => pending.has(name));
  const now: [string, unknown][] = [];
  const later: [string, unknown][] = [];
  for (const [key, value] of Object.entries(data)) {
    if (!waits(value)) now.push([key, value]);
    else if (Array.isArray(value)) {
      now.push([key, value.filter((element) => !waits(element))]);
      later.push([key, value.filter(waits)]);
    } else if (!isObject(value)) return undefined;
    else if (key.includes(':')) {
      const parts = postpone(value, pending); // an extension: its attributes, one by one
      if (!parts) return undefined;
      now.push([key, parts.now]);
      later.push([key, parts.later]);
    } else later.push([key, value]);
  }
  return { now: Object.fromEntries(now), later: Object.fromEntries(later) };
}

/** `run` an operation with this data, or `complete` a resource that was created without the data. */
export interface BulkStep {
  readonly kind: 'run' | 'complete';
  readonly index: number;
  readonly data: unknown;
}

interface Node {
  readonly index: number;
  readonly operation: BulkOperation;
  /** What has to be there first: creations that the data refers to, and whatever the path has to wait for. */
  readonly needs: Set<Node>;
  readonly follows: Set<Node>;
  readonly neededBy: Node[];
  readonly followedBy: Node[];
  blockers: number;
  hasRun: boolean;
  /** Set where a circle was opened. */
  parts?: { readonly now: JsonObject; readonly later: JsonObject };
}

function toNodes(operations: readonly BulkOperation[]): Node[] {
  const nodes = operations.map((operation, index): Node => {
    const links = { needs: new Set<Node>(), follows: new Set<Node>(), neededBy: [], followedBy: [] };
    return { index, operation, ...links, blockers: 0, hasRun: false };
  });
  const creators = new Map<string, Node>();
  for (const node of nodes) {
    const { method, bulkId, fault } = node.operation;
    if (method === 'POST' && bulkId !== undefined && !fault) creators.set(bulkId, node);
  }
  const lastAt = new Map<string, Node>();
  for (const node of nodes) {
    const { target, data, fault } = node.operation;
    if (fault) continue;
    for (const name of referencesIn(data)) {
      const creator = creators.get(name);
      if (creator) node.needs.add(creator);
    }
    if (target?.id === undefined) continue;
    // Changes of one resource stay in their order, even when one of them has to wait.
    const place = `${target.endpoint}/${target.id}`;
    const name = REFERENCE.exec(target.id)?.[2] ?? '';
    for (const before of [lastAt.get(place), creators.get(name)]) if (before) node.follows.add(before);
    lastAt.set(place, node);
  }
  for (const node of nodes) {
    for (const each of node.needs) each.neededBy.push(node);
    for (const each of node.follows) each.followedBy.push(node);
    node.blockers = node.needs.size + node.follows.size;
  }
  return nodes;
}

const isOpen = (node: Node): boolean => !node.hasRun;

/** The members of one circle among operations that all wait; only creations can be in one. */
function circleFrom(start: Node): Node[] {
  const way = new Set<Node>();
  let node: Node | undefined = start;
  while (node && !way.has(node)) {
    way.add(node);
    node = [...node.needs].find(isOpen) ?? [...node.follows].find((each) => each.blockers > 0);
  }
  const nodes = [...way];
  return node ? nodes.slice(nodes.indexOf(node)) : [];
}

/** Opens a circle at a group if possible, as members are easily added afterwards (section 3.7.1). */
function openCircle(start: Node): Node {
  const circle = circleFrom(start).sort(
    (a, b) =>
      Number(a.operation.target?.endpoint === 'Users') - Number(b.operation.target?.endpoint === 'Users') ||
      a.index - b.index,
  );
  for (const node of circle) {
    const pending = [...node.needs].filter(isOpen).map(({ operation }) => operation.bulkId ?? '');
    const parts = postpone(node.operation.data, new Set(pending));
    if (!parts) continue;
    node.parts = parts;
    return node;
  }
  // Nothing helps: run as it is, it will be refused for what it refers to.
  const lost = circle[0] ?? start;
  lost.blockers = 0;
  return lost;
}

/**
 * The order of the work: as given, but what refers to a later creation waits for it, and a circle of references is
 * opened by creating one resource without them and completing it as soon as they are known.
 */
export function planBulk(operations: readonly BulkOperation[]): BulkStep[] {
  const steps: BulkStep[] = [];
  const waiting = new Set(toNodes(operations));
  const finish = (node: Node): void => {
    for (const each of node.followedBy) each.blockers--;
  };
  while (waiting.size > 0) {
    const nodes = [...waiting];
    const node = nodes.find(({ blockers }) => blockers === 0) ?? openCircle(nodes[0] as Node);
    waiting.delete(node);
    node.hasRun = true;
    steps.push({ kind: 'run', index: node.index, data: node.parts ? node.parts.now : node.operation.data });
    if (!node.parts) finish(node);
    for (const each of node.neededBy) {
      if (--each.blockers > 0 || !each.parts) continue;
      steps.push({ kind: 'complete', index: each.index, data: each.parts.later });
      finish(each);
    }
  }
  return steps;
}
