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

/**
 * Matches `$${`, which stands for a literal `${`, and `${…}`. The group has the text between the braces: the name of a variable, or
 * `file:` and a path; for `$${` it is undefined.
 */
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
    const report = (problem: string): void => void problems.push(problem);
    const parts = partsOf(text, env, folder, report);
    const values = parts.map((part) => (typeof part === 'string' ? part : readSecret(part.file, report)));
    if (parts.some((part) => typeof part !== 'string')) fromFiles.push({ path, parts });
    if (problems.length > 0) faults.push({ path, message: problems.join(' ') });
    if (/^\$\{[^}]*\}$/.test(text)) wholeReferences.add(path);
    return values.join('');
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
 * change while the service runs. @param report gets a sentence about each reference that names no variable
 */
function partsOf(
  text: string,
  env: NodeJS.ProcessEnv,
  folder: string,
  report: (problem: string) => void,
): FileText['parts'] {
  const parts: FileText['parts'] = [];
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, name] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (name === undefined) parts.push('${');
    else if (name.startsWith('file:')) parts.push({ file: resolve(folder, name.slice('file:'.length)) });
    else parts.push(variableOf(name, env, report));
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

function variableOf(name: string, env: NodeJS.ProcessEnv, report: (problem: string) => void): string {
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
  const value = isName && Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return value;
  report(
    isName
      ? `The environment variable ${name} is not set. Set it, or remove this setting.`
      : 'A reference is written ${NAME} or ${file:/path}; write $${ for a literal ${.',
  );
  return `\${${name}}`;
}

function readSecret(file: string, report: (problem: string) => void): string {
  try {
    return withoutLineEnd(readFileSync(file, 'utf8'));
  } catch (error) {
    report(`The file ${file} cannot be read (${errorCode(error)}). Check its path and permissions.`);
    return '';
  }
}

/** Removes the line break at the end, which editors and `echo` add and which is not part of the secret. */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '');
