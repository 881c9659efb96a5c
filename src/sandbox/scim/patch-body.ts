// Parses the PatchOp message (RFC 7644 §3.5.2, contract 2.6).
import { own, requireObject, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { PATCH_URN } from './urns.ts';

export interface ParsedPatchOperation {
  readonly op: 'add' | 'remove' | 'replace';
  /** Undefined = the value is an object whose properties are changed. */
  readonly path: string | undefined;
  readonly value: unknown;
}

function parseOperation(entry: unknown): ParsedPatchOperation {
  const source = requireObject(entry, 'An operation');
  const word = own(source, 'op');
  // Entra ID capitalises `op` (ASSUMED-14).
  const op = typeof word === 'string' ? word.toLowerCase() : '';
  if (op !== 'add' && op !== 'remove' && op !== 'replace') {
    throw new SandboxProblem(400, 'op must be add, remove or replace', 'invalidSyntax');
  }
  const path = own(source, 'path');
  if (path !== undefined && path !== null && typeof path !== 'string') {
    throw new SandboxProblem(400, 'path must be text', 'invalidPath');
  }
  if (op === 'remove' && !path) throw new SandboxProblem(400, 'remove needs a path', 'noTarget');
  return { op, path: path ? path.trim() : undefined, value: own(source, 'value') };
}

/** Returns the text that an operation sets, or null when it clears the attribute. @throws 400 for another value */
export function textOfOperation({ op, value }: ParsedPatchOperation, name: string): string | null {
  if (op === 'remove' || value === null) return null;
  if (typeof value === 'string') return value;
  throw new SandboxProblem(400, `${name} must be text`, 'invalidValue');
}

/** Returns a path without the URN of its schema. @throws 400 `mutability` for a read-only attribute */
export function writablePath(path: string, urn: string, readOnly: ReadonlySet<string>): string {
  const isQualified = path.toLowerCase().startsWith(`${urn}:`.toLowerCase());
  const attribute = isQualified ? path.slice(urn.length + 1) : path;
  if (readOnly.has(attribute.toLowerCase()))
    throw new SandboxProblem(400, `${attribute} is read-only`, 'mutability');
  return attribute;
}

/** Returns the operations of a PatchOp body, at least one. @throws 400 `invalidSyntax`, `invalidPath` or `noTarget` */
export function parseOperations(body: SandboxJsonObject): ParsedPatchOperation[] {
  const schemas = own(body, 'schemas');
  if (!Array.isArray(schemas) || !schemas.includes(PATCH_URN)) {
    throw new SandboxProblem(400, `schemas must contain ${PATCH_URN}`, 'invalidSyntax');
  }
  const operations = own(body, 'Operations');
  if (!Array.isArray(operations) || operations.length === 0) {
    throw new SandboxProblem(400, 'Operations must hold at least one operation', 'invalidSyntax');
  }
  return operations.map(parseOperation);
}
