// Parses a file of Cube's YAML (`parseModelFile`) to nodes: a node is one mapping of the file, and gives its properties by type. Each
// fault names file, line and column.
import { LineCounter, parseDocument, isNode, type Document } from 'yaml';
import { isJsonObject, type SandboxJsonObject } from '../../json.ts';
import type { ModelFile } from './model-files.ts';

type Path = readonly (string | number)[];

/** A mapping of the file whose keys are in snake_case. Reading a property of another type reports a fault. */
export interface SourceNode {
  readonly values: SandboxJsonObject;
  /** Reports a fault at the property with the path `below` this mapping. */
  fail(message: string, ...below: Path): void;
  text(name: string): string | undefined;
  /** Returns a flag; `absent` (default false) when the mapping does not have it. */
  flag(name: string, absent?: boolean): boolean;
  /** Returns the mappings of a list; reports other entries. */
  nodes(name: string): SourceNode[];
  /** Returns a mapping, or undefined. */
  node(name: string): SourceNode | undefined;
}

/** Parses one file. Faults are added to `faults`; returns undefined when nothing can be read. */
export function parseModelFile({ name, text }: ModelFile, faults: string[]): SourceNode | undefined {
  const jinja = /\{\{|\{%|\{#/.exec(text);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const report: Report = (offset, message) => {
    const { line, col } = lines.linePos(offset);
    faults.push(`${name}:${line}:${col}: ${message}`);
  };
  if (jinja)
    report(
      jinja.index,
      `Jinja (${jinja[0]}) is not supported: write the cubes out, or give the folder with the YAML that the templates render`,
    );
  for (const { pos, message } of document.errors) {
    const [start] = pos;
    report(start, message);
  }
  if (jinja || document.errors.length > 0) return undefined;
  let value: unknown;
  try {
    // With more aliases a small file could expand to a huge value.
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    report(0, (error as Error).message);
  }
  if (isJsonObject(value)) return createNodeReader(document, report)(value, []);
  report(0, 'the file must hold "cubes" or "views"');
  return undefined;
}

/** Reports a fault at a position in the text of a file. */
type Report = (offset: number, message: string) => void;

/** Returns a function that makes the typed source of a mapping, given its value and its path in the document. */
function createNodeReader(
  document: Document,
  report: Report,
): (value: SandboxJsonObject, path: Path) => SourceNode {
  /** Returns the position of the value at a path, or of the nearest mapping or list above it that has a position. */
  const offsetAt = (path: Path): number => {
    for (let length = path.length; length > 0; length -= 1) {
      const found = document.getIn(path.slice(0, length), true);
      if (isNode(found) && found.range) return found.range[0];
    }
    return 0;
  };
  const nodeAt = (value: SandboxJsonObject, path: Path): SourceNode => {
    // Keys of `values` are in snake case, as in Cube's documentation.
    const values = Object.fromEntries(Object.entries(value).map(([key, inside]) => [snake(key), inside]));
    const spelling = new Map(Object.keys(value).map((key) => [snake(key), key]));
    /** Returns the path in the document, whose first key below this mapping is spelled as in the file: a fault is found by it. */
    const pathTo = ([first, ...rest]: Path): Path =>
      first === undefined ? path : [...path, spelling.get(String(first)) ?? first, ...rest];
    const fail: SourceNode['fail'] = (message, ...below) => report(offsetAt(pathTo(below)), message);
    return {
      values,
      fail,
      text(key) {
        const found = values[key];
        if (found === undefined || found === null || typeof found === 'string') return found ?? undefined;
        fail(`"${key}" must be text`, key);
        return undefined;
      },
      flag(key, absent = false) {
        const found = values[key] ?? absent;
        if (typeof found === 'boolean') return found;
        fail(`"${key}" must be true or false`, key);
        return absent;
      },
      nodes(key) {
        const found = values[key] ?? [];
        if (!Array.isArray(found)) {
          fail(`"${key}" must be a list`, key);
          return [];
        }
        return found.flatMap((entry: unknown, index) => {
          if (isJsonObject(entry)) return [nodeAt(entry, pathTo([key, index]))];
          fail(`"${key}" has an entry that is no mapping`, key, index);
          return [];
        });
      },
      node(key) {
        const found = values[key];
        if (found === undefined || found === null) return undefined;
        if (isJsonObject(found)) return nodeAt(found, pathTo([key]));
        fail(`"${key}" must be a mapping`, key);
        return undefined;
      },
    };
  };
  return nodeAt;
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
