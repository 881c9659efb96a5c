// Plans the order of bulk operations, so that each resource is created before another one refers to it (RFC 7644 §3.7, for circular
// references RFC 7644 §3.7.1). Flow: each operation becomes a node, which is linked to the nodes that it waits for:
// - `needs`: creations whose ids its data contains. They only have to run.
// - `follows`: earlier operations on the same resource. They have to be complete.
// The first node without such blockers runs next. If every node has blockers, some of them form a circle: one creation of it is
// split into a step `run` without the references, and a step `complete` with them, as soon as they are known.
import { postpone, referenceIn, referencesIn } from './bulk-references.ts';
import type { BulkOperation } from './bulk-request.ts';
import type { JsonObject } from './json.ts';

/** One step: `run` an operation with this data, or `complete` a created resource with the data that was left out. */
export interface BulkStep {
  readonly kind: 'run' | 'complete';
  /** Position of the operation in the request, from 0. */
  readonly index: number;
  readonly data: unknown;
  /** Whether `data` contains bulkIds. */
  readonly refers: boolean;
}

interface Node {
  readonly index: number;
  readonly operation: BulkOperation;
  /** Creations that the data refers to: their resources must exist first. */
  readonly needs: Set<Node>;
  /** The last operation before this one on the same resource, and the creation of that resource: both must be complete first. */
  readonly follows: Set<Node>;
  /** The reverse of `needs`. */
  readonly neededBy: Node[];
  /** The reverse of `follows`. */
  readonly followedBy: Node[];
  /** Whether the data contains bulkIds. */
  refers: boolean;
  /** Number of operations in `needs` and `follows` that this one still waits for. */
  blockers: number;
  hasRun: boolean;
  /** The bulkId in a simple value, because of which this creation cannot be split until the resource of the bulkId exists. */
  waitsFor?: string | undefined;
  /** Set when this creation was split to resolve a circular reference: the data of its steps `run` and `complete`. */
  parts?: { readonly now: JsonObject; readonly later: JsonObject };
}

/** Number of operations that are analysed between two yields. */
const STRIDE = 20;

type Nodes = readonly Node[];
type Creators = ReadonlyMap<string, Node>;

/**
 * Yields the operations in their order, except that an operation with a reference to a later creation waits for it. A
 * circular reference is resolved by creating one resource without the references and completing it once they are known.
 * `undefined` between steps lets the caller give other requests a turn, because planning a body of 12 MB takes long.
 */
export function* planBulk(operations: readonly BulkOperation[]): Generator<BulkStep | undefined, void> {
  const { nodes, creators } = toNodes(operations);
  for (const node of nodes) {
    linkData(node, creators);
    if (node.index % STRIDE === STRIDE - 1) yield undefined;
  }
  linkPaths(nodes, creators);
  const waiting = new Set(nodes);
  while (waiting.size > 0) {
    let node = first(waiting, isFree);
    if (!node) {
      node = splitCircular(first(waiting, isOpen) as Node, creators);
      yield undefined;
    }
    waiting.delete(node);
    node.hasRun = true;
    const { index, parts, operation, refers } = node;
    yield { kind: 'run', index, data: parts ? parts.now : operation.data, refers };
    if (!parts) release(node);
    for (const each of node.neededBy) {
      // A creation that was split is completed when its last reference is known.
      if (--each.blockers > 0 || !each.parts) continue;
      yield { kind: 'complete', index: each.index, data: each.parts.later, refers: true };
      release(each);
    }
  }
}

/** Returns a node for each operation, and the creations by their bulkId. */
function toNodes(operations: readonly BulkOperation[]): { nodes: Nodes; creators: Creators } {
  const creators = new Map<string, Node>();
  const nodes = operations.map((operation, index): Node => {
    const links = { needs: new Set<Node>(), follows: new Set<Node>(), neededBy: [], followedBy: [] };
    const node = { index, operation, ...links, refers: false, blockers: 0, hasRun: false };
    const { method, bulkId, fault } = operation;
    if (method === 'POST' && bulkId !== undefined && !fault) creators.set(bulkId, node);
    return node;
  });
  return { nodes, creators };
}

/** Records which creations the data of an operation refers to. */
function linkData(node: Node, creators: Creators): void {
  const { data, fault } = node.operation;
  if (fault) return;
  for (const name of referencesIn(data)) {
    node.refers = true;
    const creator = creators.get(name);
    if (creator) node.needs.add(creator);
  }
}

/** Keeps changes of one resource in their order, even when one of them waits for a creation. */
function linkPaths(nodes: Nodes, creators: Creators): void {
  const lastAt = new Map<string, Node>();
  for (const node of nodes) {
    const { target, fault } = node.operation;
    if (fault || target?.id === undefined) continue;
    const place = `${target.endpoint}/${target.id}`;
    const bulkId = referenceIn(target.id);
    const creator = bulkId === undefined ? undefined : creators.get(bulkId);
    const before = lastAt.get(place);
    if (before) node.follows.add(before);
    if (creator) node.follows.add(creator);
    lastAt.set(place, node);
  }
  for (const node of nodes) {
    for (const each of node.needs) each.neededBy.push(node);
    for (const each of node.follows) each.followedBy.push(node);
    node.blockers = node.needs.size + node.follows.size;
  }
}

/**
 * Resolves a circular reference by splitting one creation, and returns the operation to run next. A group is split if
 * possible, because members are easily added afterwards. A server must try to resolve a circular reference, and may
 * answer 409 after a failed attempt (RFC 7644 §3.7.1).
 */
function splitCircular(start: Node, creators: Creators): Node {
  const isPending = (name: string): boolean => creators.get(name)?.hasRun === false;
  // Groups first, then in the order of the request.
  const circular = circularFrom(start).sort(
    (a, b) =>
      Number(a.operation.target?.endpoint === 'Users') - Number(b.operation.target?.endpoint === 'Users') ||
      a.index - b.index,
  );
  for (const node of circular) {
    // The data is searched again only if the reason for the last failure is gone.
    if (node.waitsFor !== undefined && isPending(node.waitsFor)) continue;
    const parts = postpone(node.operation.data, (name) => {
      if (!isPending(name)) return false;
      node.waitsFor = name;
      return true;
    });
    if (!parts) continue;
    node.parts = parts;
    return node;
  }
  // If no creation of the circle can be split, one operation runs unchanged; its references are then refused with 409.
  const unresolved = circular[0] ?? start;
  unresolved.blockers = 0;
  return unresolved;
}

/** Follows the unfinished operations from `start` and returns the operations of the circle that they form. */
function circularFrom(start: Node): Node[] {
  const visited = new Set<Node>();
  let node: Node | undefined = start;
  while (node && !visited.has(node)) {
    visited.add(node);
    // An operation of `needs` only has to run, an operation of `follows` has to be complete. A creation that was split has run,
    // but has blockers until it is complete.
    node = first(node.needs, isOpen) ?? first(node.follows, isBlocked);
  }
  const nodes = [...visited];
  return node ? nodes.slice(nodes.indexOf(node)) : [];
}

/** Records that the resource of the operation is complete. */
function release(node: Node): void {
  for (const each of node.followedBy) each.blockers--;
}

function first(nodes: Iterable<Node>, test: (node: Node) => boolean): Node | undefined {
  for (const node of nodes) if (test(node)) return node;
  return undefined;
}

const isOpen = (node: Node): boolean => !node.hasRun;
const isFree = ({ blockers }: Node): boolean => blockers === 0;
const isBlocked = ({ blockers }: Node): boolean => blockers > 0;
