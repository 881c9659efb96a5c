// Finds and reads the settings file. JSON is read as YAML, of which it is a subset.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { LineCounter, parseDocument, visit, type YAMLError } from 'yaml';
import { ConfigError } from './faults.ts';
import { isTree } from './places.ts';

const DEFAULT_FILE = 'config/bridge.yaml';

// Advice for the operator, by error code of the YAML library. The messages of the library may quote the file, secrets included.
const ADVICE: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: 'An alias (*name) has no anchor (&name) before it. Put text that starts with * in quotes.',
  BAD_INDENT: 'The indentation is wrong, or a closing bracket is missing.',
  BAD_SCALAR_START: 'Text cannot start with this character. Put it in quotes.',
  BLOCK_AS_IMPLICIT_KEY: 'There are two values on one line. Put text that holds ": " in quotes.',
  DUPLICATE_KEY: 'This key appears twice. Keep one.',
  MISSING_CHAR: 'A quote, bracket, comma or blank is missing.',
  MULTIPLE_DOCS: 'The file holds several documents. Keep one and remove the line ---.',
  NON_STRING_KEY: 'Keys must be plain text.',
  TAB_AS_INDENT: 'Tabs cannot indent. Use blanks.',
  TAG_RESOLVE_FAILED: 'Tags (!name) are not supported. Remove it, or put text that starts with ! in quotes.',
  UNEXPECTED_TOKEN: 'A part of the text is not expected here. Check quotes, brackets and indentation.',
};

interface SettingsFile {
  /** Absolute path; null = no file. */
  source: string | null;
  document: Record<string, unknown>;
}

/**
 * Reads the settings file: that of the --config argument, else of the variable SCIM_BRIDGE_CONFIG, else config/bridge.yaml
 * if it exists. @throws ConfigError when it cannot be read or parsed
 */
export function readSettingsFile(
  file: string | undefined,
  env: NodeJS.ProcessEnv,
  cwd: string,
): SettingsFile {
  const named = file || env.SCIM_BRIDGE_CONFIG;
  const source = resolve(cwd, named || DEFAULT_FILE);
  let text: string;
  try {
    text = readFileSync(source, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (!named && (code === 'ENOENT' || code === 'ENOTDIR')) return { source: null, document: {} };
    const message = `The settings file ${source} cannot be read (${code}). Check its path and permissions.`;
    throw new ConfigError([{ path: '/', message }]);
  }
  return { source, document: parseSettings(text, source) };
}

/** Returns the code of a failed file operation, such as ENOENT. */
export function errorCode(error: unknown): string {
  return isTree(error) && typeof error.code === 'string' ? error.code : 'unknown error';
}

// In YAML, braces inside [..] or {..} are structure, so `{ secret: ${SCIM_TOKEN} }` would not parse. During parsing, three
// private-use characters stand for `$`, `{` and `}` of a reference. The text keeps its length, so the columns in faults are right.
const [DOLLAR, OPEN, CLOSE] = ['\uf8e0', '\uf8e1', '\uf8e2'];

function hideReferences(text: string): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*|file:[^}\r\n]*)\}/g, `${DOLLAR}${OPEN}$1${CLOSE}`);
}

function showReferences(value: unknown): unknown {
  if (typeof value === 'string') return showText(value);
  if (Array.isArray(value)) return value.map(showReferences);
  if (!isTree(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [showText(key), showReferences(item)]),
  );
}

function showText(text: string): string {
  return text.replaceAll(DOLLAR, '$').replaceAll(OPEN, '{').replaceAll(CLOSE, '}');
}

/** Returns the document of a YAML or JSON text. @throws ConfigError with line and column of each syntax error */
function parseSettings(text: string, source: string): Record<string, unknown> {
  const lineCounter = new LineCounter();
  const parsed = parseDocument(hideReferences(text), { lineCounter, prettyErrors: false, stringKeys: true });
  const errors = [...parsed.errors, ...parsed.warnings].map(({ code, pos: [at] }) => ({ code, at }));
  for (const at of looseAliases(parsed)) errors.push({ code: 'BAD_ALIAS', at });
  if (errors.length > 0) {
    const faults = errors.map(({ code, at }) => {
      const { line, col } = lineCounter.linePos(at);
      const advice = ADVICE[code] ?? 'This is not valid YAML.';
      return { path: '/', message: `${source}, line ${line}, column ${col}: ${advice}` };
    });
    throw new ConfigError(faults);
  }
  const document = showReferences(toPlain(parsed, source)) ?? {};
  if (isTree(document) && !Array.isArray(document)) return document;
  const message = `${source} must hold a mapping of sections (server, connections, targets ...).`;
  throw new ConfigError([{ path: '/', message }]);
}

// Returns the positions of aliases without anchor. The library finds them only during conversion, without their position.
function looseAliases(parsed: ReturnType<typeof parseDocument>): number[] {
  const positions: number[] = [];
  visit(parsed, {
    Alias(_, alias) {
      if (!alias.resolve(parsed)) positions.push(alias.range?.[0] ?? 0);
    },
  });
  return positions;
}

function toPlain(parsed: ReturnType<typeof parseDocument>, source: string): unknown {
  try {
    return parsed.toJS();
  } catch (cause) {
    // The library throws this when aliases would make the document too large.
    if (!(cause instanceof ReferenceError)) throw cause;
    throw new ConfigError([
      { path: '/', message: `${source} uses too many aliases (*name). Write values out.` },
    ]);
  }
}
