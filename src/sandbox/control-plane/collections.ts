// Implements generic resources: a list of records under one path, each stored as sent with an id added. They serve
// the paths for which the specification defines no fields (contract 10).
import { bodyOf, pathText, type Call, type Handler, type HandlerReply } from '../call.ts';
import type { SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';

/** Returns the storage key of a collection such as `env-vars`; it contains the deployment id when the path has one. */
function keyOf(call: Call, name: string): string {
  const deploymentId = pathText(call, 'deploymentId');
  return deploymentId === '' ? name : `${name}/${deploymentId}`;
}

export function recordsOf(call: Call, name: string): readonly SandboxJsonObject[] {
  return call.state.collections.get(keyOf(call, name)) ?? [];
}

export function setRecords(call: Call, name: string, records: readonly SandboxJsonObject[]): void {
  call.state.collections.set(keyOf(call, name), records);
}

/** Appends a record with the next id and its creation time. @returns the record */
export function addRecord(call: Call, name: string, given: SandboxJsonObject): SandboxJsonObject {
  const records = recordsOf(call, name);
  const id = Math.max(0, ...records.map((record) => Number(record['id']))) + 1;
  const record = { ...given, id, createdAt: new Date(call.nowMs).toISOString() };
  setRecords(call, name, [...records, record]);
  return record;
}

/** Returns the record of the path parameter `id`. @throws 404 */
function requireRecord(call: Call, name: string): SandboxJsonObject {
  const wanted = pathText(call, 'id');
  const record = recordsOf(call, name).find((candidate) => String(candidate['id']) === wanted);
  if (!record) throw new SandboxProblem(404, 'Not found');
  return record;
}

/** Handles `GET`: a JSON array of all records. */
export function listArray(name: string): (call: Call) => HandlerReply {
  return (call) => ({ status: 200, body: recordsOf(call, name) });
}

/** Handles `GET`: `{items, data, pageInfo}` with all records on one page; `items` and `data` hold the same records. */
export function listItems(name: string): Handler {
  return (call) => {
    const items = recordsOf(call, name);
    const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
    return { status: 200, body: { items, data: items, pageInfo } };
  };
}

/** Handles `POST`: stores the body, 200 with the record. */
export function createIn(name: string): Handler {
  return (call) => ({ status: 200, body: addRecord(call, name, bodyOf(call)) });
}

/** Handles `GET /{id}`: 200 with the record; 404. */
export function readFrom(name: string): (call: Call) => HandlerReply {
  return (call) => ({ status: 200, body: requireRecord(call, name) });
}

/** Handles `DELETE /{id}`: 204; 404. */
export function deleteFrom(name: string): Handler {
  return (call) => {
    const record = requireRecord(call, name);
    setRecords(
      call,
      name,
      recordsOf(call, name).filter((other) => other !== record),
    );
    return { status: 204 };
  };
}
