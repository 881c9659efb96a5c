// Applies PATCH on a user to a draft, which is stored only when all operations are valid (contract 2.6).
import { isJsonObject, own, requireObject, requireText } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { EmailEntry, UserRecord } from '../records.ts';
import type { State } from '../state.ts';
import { extensionEntries, attributeReferenceIn, requireReference, withExtension } from './extension.ts';
import { textOfOperation, writablePath, type ParsedPatchOperation } from './patch-body.ts';
import { EXTENSION_URN, SCIM_USER_URN } from './urns.ts';
import { parseActive, parseEmail, type UserFields } from './user-resource.ts';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type UserDraft = Writable<UserFields & Pick<UserRecord, 'isDeactivated' | 'values'>>;

const READ_ONLY = new Set(['id', 'meta', 'groups', 'schemas']);
/** Property by path in lower case. */
const OPTIONAL_TEXTS = new Map<string, 'displayName' | 'externalId' | 'givenName' | 'familyName'>([
  ['displayname', 'displayName'],
  ['externalid', 'externalId'],
  ['name.givenname', 'givenName'],
  ['name.familyname', 'familyName'],
]);
/** `emails[primary eq true].value` or `emails[type eq "work"].value`. */
const ONE_EMAIL = /^emails\[\s*(?:(primary)\s+eq\s+true|type\s+eq\s+"([^"]*)")\s*\]\.value$/i;

/** Returns a copy of the properties of a user that PATCH may change. */
export function draftOf(user: UserRecord): UserDraft {
  const { userName, externalId, displayName, givenName, familyName, emails, isDeactivated, values } = user;
  return { userName, externalId, displayName, givenName, familyName, emails, isDeactivated, values };
}

function setEmails(draft: UserDraft, operation: ParsedPatchOperation): void {
  if (operation.op === 'remove') {
    draft.emails = [];
    return;
  }
  const sent: unknown[] = Array.isArray(operation.value) ? operation.value : [operation.value];
  const entries = sent.map((entry) => parseEmail(requireObject(entry, 'Every entry of emails')));
  const known = new Set(draft.emails.map((entry) => entry.value.toLowerCase()));
  draft.emails =
    operation.op === 'replace'
      ? entries
      : [...draft.emails, ...entries.filter((entry) => !known.has(entry.value.toLowerCase()))];
}

/**
 * Adds, changes or removes the e-mail of the given type; if no type is given, the primary one.
 * @throws 400 `noTarget` for `replace` without a match (RFC 7644 §3.5.2.3), `invalidValue` for a value that is no text
 */
function setOneEmail(draft: UserDraft, operation: ParsedPatchOperation, type: string | undefined): void {
  const isSelected = (entry: EmailEntry): boolean =>
    type === undefined ? entry.primary === true : entry.type?.toLowerCase() === type.toLowerCase();
  if (operation.op === 'remove') {
    draft.emails = draft.emails.filter((entry) => !isSelected(entry));
    return;
  }
  const { value } = operation;
  if (typeof value !== 'string' || value === '')
    throw new SandboxProblem(400, 'An e-mail must be text', 'invalidValue');
  if (draft.emails.some(isSelected)) {
    draft.emails = draft.emails.map((entry) => (isSelected(entry) ? { ...entry, value } : entry));
  } else if (operation.op === 'add') {
    draft.emails = [...draft.emails, type === undefined ? { value, primary: true } : { value, type }];
  } else throw new SandboxProblem(400, 'No e-mail matches the path', 'noTarget');
}

/** Applies an operation with a core path. @returns false for a path that contract 2.6 does not list */
function patchCore(draft: UserDraft, path: string, operation: ParsedPatchOperation): boolean {
  const name = path.toLowerCase();
  const text = OPTIONAL_TEXTS.get(name);
  const [oneEmail, primary, type] = ONE_EMAIL.exec(path) ?? [];
  if (text) draft[text] = textOfOperation(operation, text);
  else if (name === 'emails') setEmails(draft, operation);
  else if (oneEmail !== undefined) setOneEmail(draft, operation, primary === undefined ? type : undefined);
  else if (name === 'active' || name === 'username') {
    if (operation.op === 'remove') throw new SandboxProblem(400, `${path} cannot be removed`, 'invalidValue');
    if (name === 'active') draft.isDeactivated = !parseActive(operation.value);
    else draft.userName = requireText({ userName: operation.value }, 'userName');
  } else return false;
  return true;
}

/** Applies an operation without a path: each property of its value is changed like a path. */
function patchWithoutPath(state: State, draft: UserDraft, operation: ParsedPatchOperation): void {
  const value = requireObject(operation.value, 'value of an operation without path');
  draft.values = withExtension(state, draft.values, extensionEntries(value), 'invalidPath');
  for (const [name, member] of Object.entries(value)) {
    if (name === EXTENSION_URN || attributeReferenceIn(name) !== undefined) continue;
    if (name.toLowerCase() === 'name' && isJsonObject(member)) {
      for (const part of ['givenName', 'familyName']) {
        const sent = own(member, part);
        if (sent !== undefined) patchCore(draft, `name.${part}`, { ...operation, value: sent });
      }
    } else {
      // Unknown properties are ignored, as in every body (ASSUMED-109).
      patchCore(draft, name, { ...operation, value: member });
    }
  }
}

/** Applies one operation to the draft. @throws 400 `invalidPath`, `invalidSyntax`, `invalidValue`, `mutability` or `noTarget` */
export function patchDraft(state: State, draft: UserDraft, operation: ParsedPatchOperation): void {
  if (operation.path === undefined) {
    patchWithoutPath(state, draft, operation);
    return;
  }
  const reference = attributeReferenceIn(operation.path);
  if (reference !== undefined) {
    const definition = requireReference(state, reference, 'invalidPath');
    const value = operation.op === 'remove' ? null : (operation.value ?? null);
    draft.values = withExtension(state, draft.values, [[definition.name, value]], 'invalidPath');
    return;
  }
  const path = writablePath(operation.path, SCIM_USER_URN, READ_ONLY);
  if (!patchCore(draft, path, operation))
    throw new SandboxProblem(400, `Unsupported path: ${path}`, 'invalidPath');
}
