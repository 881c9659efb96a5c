// Reads properties of workspace bodies, for public calls and fixtures. An unknown folder is 404, any other refusal 400
// (contract 4.7).
import { isJsonObject, optionalOf, textOrNull, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { State } from '../state.ts';
import { folderOf } from './tree.ts';
import type { FolderRecord } from './records.ts';

/** Longest name or title of an item (contract 8). */
const NAME_LENGTH = 255;
/** Name of a workbook or report that is created without a name. */
export const UNTITLED = 'Untitled';

/** Returns a name of 1 to 255 characters, or undefined when it is absent or null. */
export function readName(source: SandboxJsonObject, member = 'name'): string | undefined {
  const name = textOrNull(source, member);
  if (name === null) return undefined;
  if (name.trim() === '' || name.length > NAME_LENGTH) {
    throw new SandboxProblem(400, `${member} must have 1 to ${NAME_LENGTH} characters`);
  }
  return name;
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

/** Returns a whole number, or null when the property is absent or null. */
export const readInteger = (source: SandboxJsonObject, member: string): number | null =>
  optionalOf(source, member, isInteger, 'a whole number or null');

/** Returns a JSON object, or null when the property is absent or null. */
export const readObject = (source: SandboxJsonObject, member: string): SandboxJsonObject | null =>
  optionalOf(source, member, isJsonObject, 'an object');

/** Returns the folder with `id` in the deployment; null for the root. @throws 404 when unknown (ASSUMED-73) */
export function requireFolder(state: State, deploymentId: string, id: number): FolderRecord;
export function requireFolder(state: State, deploymentId: string, id: number | null): FolderRecord | null;
export function requireFolder(state: State, deploymentId: string, id: number | null): FolderRecord | null {
  if (id === null) return null;
  const folder = folderOf(state, deploymentId, id);
  if (!folder) throw new SandboxProblem(404, 'Folder not found');
  return folder;
}
