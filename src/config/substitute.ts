// Replaces ${NAME} and ${file:/path} in the texts of the settings file.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConfigFault } from './faults.ts';
import { isTree, toPath } from './places.ts';
import { errorCode } from './settings-file.ts';

/** A text of the settings that contains the content of files: its parts in order, with files to be read. */
export interface FileText {
  /** JSON pointer of the setting. */
  path: string;
  parts: (string | { file: string })[];
}

interface Substituted {
  document: Record<string, unknown>;
  /** Paths of texts that were one reference and nothing else, so they may become numbers or flags (validate.ts). */
  wholeReferences: Set<string>;
  /** Texts that contain the content of a file. */
  fromFiles: FileText[];
  faults: ConfigFault[];
}

/** `$${`, which stands for a literal `${` and has no name here; or `${…}` with the name of a variable or `file:` and a path. */
const REFERENCE = /\$\$\{|\$\{([^}]*)\}/g;

/** Returns a copy of the document with every reference replaced. Relative file paths start at `folder`. */
export function substitute(
  document: Record<string, unknown>,
  env: NodeJS.ProcessEnv,
  folder: string,
): Substituted {
  const wholeReferences = new Set<string>();
  const fromFiles: FileText[] = [];
  const faults: ConfigFault[] = [];

  const inText = (text: string, path: string): string => {
    const problems: string[] = [];
    // The text is read twice: here for its value now, below for its parts, by which a later change of a file is seen.
    const result = text.replace(REFERENCE, (whole, name: string | undefined) => {
      if (name === undefined) return '${';
      const found = lookUp(name, env, folder);
      if ('value' in found) return found.value;
      problems.push(found.problem);
      return whole;
    });
    const parts = partsOf(text, env, folder);
    if (parts.some((part) => typeof part !== 'string')) fromFiles.push({ path, parts });
    if (problems.length > 0) faults.push({ path, message: problems.join(' ') });
    if (/^\$\{[^}]*\}$/.test(text)) wholeReferences.add(path);
    return result;
  };
  const inValue = (value: unknown, keys: string[]): unknown => {
    if (typeof value === 'string') return inText(value, toPath(keys));
    if (Array.isArray(value)) return value.map((item, index) => inValue(item, [...keys, String(index)]));
    return isTree(value) ? inTree(value, keys) : value;
  };
  // `fromEntries` defines own properties, so `__proto__` is an ordinary key, which the schema refuses.
  const inTree = (tree: Record<string, unknown>, keys: string[]): Record<string, unknown> =>
    Object.fromEntries(Object.entries(tree).map(([key, item]) => [key, inValue(item, [...keys, key])]));

  return { document: inTree(document, []), wholeReferences, fromFiles, faults };
}

/**
 * Splits a text at its file references. Environment variables are replaced; file references stay parts, because only files
 * change while the service runs.
 */
function partsOf(text: string, env: NodeJS.ProcessEnv, folder: string): FileText['parts'] {
  const parts: FileText['parts'] = [];
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, name] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (name === undefined) parts.push('${');
    else if (name.startsWith('file:')) parts.push({ file: resolve(folder, name.slice('file:'.length)) });
    else parts.push(Object.hasOwn(env, name) ? (env[name] ?? '') : whole);
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

/** Returns the value of a variable or file, or a sentence that says why there is none. */
function lookUp(
  name: string,
  env: NodeJS.ProcessEnv,
  folder: string,
): { value: string } | { problem: string } {
  if (name.startsWith('file:')) return readSecret(resolve(folder, name.slice('file:'.length)));
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return { problem: 'A reference is written ${NAME} or ${file:/path}; write $${ for a literal ${.' };
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return { value };
  return { problem: `The environment variable ${name} is not set. Set it, or remove this setting.` };
}

function readSecret(file: string): { value: string } | { problem: string } {
  try {
    return { value: withoutLineEnd(readFileSync(file, 'utf8')) };
  } catch (error) {
    return {
      problem: `The file ${file} cannot be read (${errorCode(error)}). Check its path and permissions.`,
    };
  }
}

/** Removes the line break at the end, which editors and `echo` add and which is not part of the secret. */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '');
