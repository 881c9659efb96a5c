// The smallest resource: a list of records under one path, with ids, kept as sent. Most resources that the
// specification knows by path alone are one of these (contract 10).
import { bodyOf, pathText, type Call, type Handler } from '../call.ts';
import type { JsonObject } from '../json.ts';
import { Problem } from '../problem.ts';

/** Where the records of a call's resource lie; lists below a deployment carry its id. */
function keyOf(call: Call, name: string): string {
  const deploymentId = pathText(call, 'deploymentId');
  return deploymentId === '' ? name : `${name}/${deploymentId}`;
}

export function recordsOf(call: Call, name: string): readonly JsonObject[] {
  return call.state.collections.get(keyOf(call, name)) ?? [];
}

export function setRecords(call: Call, name: string, records: readonly JsonObject[]): void {
  call.state.collections.set(keyOf(call, name), records);
}

/** Appends a record with the next id and the time of its creation; answers it. */
export function addRecord(call: Call, name: string, given: JsonObject): JsonObject {
  const records = recordsOf(call, name);
  const id = Math.max(0, ...records.map((record) => Number(record['id']))) + 1;
  const record = { ...given, id, createdAt: new Date(call.nowMs).toISOString() };
  setRecords(call, name, [...records, record]);
  return record;
}

/** The record of the path parameter `id`, or 404. */
export function requireRecord(call: Call, name: string): JsonObject {
  const wanted = pathText(call, 'id');
  const record = recordsOf(call, name).find((one) => String(one['id']) === wanted);
  if (!record) throw new Problem(404, 'Not found');
  return record;
}

/** `GET` as a bare array. */
export function listBare(name: string): Handler {
  return (call) => ({ status: 200, body: recordsOf(call, name) });
}

/** `GET` as `{items, data, pageInfo}`, everything on one page. */
export function listItems(name: string): Handler {
  return (call) => {
    const items = recordsOf(call, name);
    const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
    return { status: 200, body: { items, data: items, pageInfo } };
  };
}

/** `POST`: keeps the body, 200 with the record. */
export function createIn(name: string): Handler {
  return (call) => ({ status: 200, body: addRecord(call, name, bodyOf(call)) });
}

export function readFrom(name: string): Handler {
  return (call) => ({ status: 200, body: requireRecord(call, name) });
}

export function deleteFrom(name: string): Handler {
  return (call) => {
    const record = requireRecord(call, name);
    setRecords(
      call,
      name,
      recordsOf(call, name).filter((one) => one !== record),
    );
    return { status: 204 };
  };
}
