// Parses Cube's YAML to typed sources of cubes and views; each fault names file, line and column.
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

/** Keys that the sandbox accepts and ignores, because they have no effect on rows or rights. */
const IGNORED = (
  'description meta format drill_members pre_aggregations refresh_key hierarchies folders data_source sql_alias ' +
  'suggest_filter_values currency links order rewrite_queries calendar mask key propagate_filters_to_sub_query ' +
  'context_members'
).split(' ');
const words = (text: string): readonly string[] => text.split(' ');
/** Supported keys by kind of entry. */
export const KEYS = {
  file: words('cubes views'),
  cube: words(
    'name title sql sql_table public shown joins measures dimensions segments access_policy extends',
  ),
  view: words('name title public shown cubes access_policy extends'),
  viewCube: words('join_path includes excludes prefix alias'),
  included: words('name alias title'),
  join: words('name relationship sql'),
  measure: words('name title type sql public shown filters'),
  dimension: words('name title type sql public shown primary_key case granularities'),
  granularity: words('name title interval offset origin'),
  segment: words('name title sql public shown'),
  filter: words('sql'),
  policy: words('group groups role conditions member_level row_level'),
  condition: words('if'),
  memberLevel: words('includes excludes'),
  rowLevel: words('allow_all filters'),
  rowFilter: words('member dimension operator values'),
};

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Reports keys that the sandbox does not know: they could change what the model shows. */
export function requireKeys(node: SourceNode, kind: keyof typeof KEYS): void {
  for (const name of Object.keys(node.values)) {
    if (!KEYS[kind].includes(name) && !IGNORED.includes(name))
      node.fail(`"${name}" is not supported here`, name);
  }
}

/** Reports a fault at a position in the text of a file. */
type Report = (offset: number, message: string) => void;

/** Returns a function that makes the typed source of a mapping, given its value and its path in the document. */
function createNodeReader(
  document: Document,
  report: Report,
): (value: SandboxJsonObject, path: Path) => SourceNode {
  const offsetAt = (path: Path): number => {
    for (let length = path.length; length > 0; length -= 1) {
      const found = document.getIn(path.slice(0, length), true);
      if (isNode(found) && found.range) return found.range[0];
    }
    return 0;
  };
  // Keys of `values` are in snake case, as in Cube's documentation. Paths have the keys as the file spells them, so that
  // a fault is found at its line.
  const nodeAt = (value: SandboxJsonObject, path: Path): SourceNode => {
    const spelling = new Map(Object.keys(value).map((key) => [snake(key), key]));
    const values = Object.fromEntries(Object.entries(value).map(([key, inside]) => [snake(key), inside]));
    const spelled = ([first, ...rest]: Path): Path =>
      first === undefined ? path : [...path, spelling.get(String(first)) ?? first, ...rest];
    const fail: SourceNode['fail'] = (message, ...below) => report(offsetAt(spelled(below)), message);
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
          if (isJsonObject(entry)) return [nodeAt(entry, spelled([key, index]))];
          fail(`"${key}" has an entry that is no mapping`, key, index);
          return [];
        });
      },
      node(key) {
        const found = values[key];
        if (found === undefined || found === null) return undefined;
        if (isJsonObject(found)) return nodeAt(found, spelled([key]));
        fail(`"${key}" must be a mapping`, key);
        return undefined;
      },
    };
  };
  return nodeAt;
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

/** Returns whether clients may use an entry, by default `absent`; `shown` is the former name of `public`. */
export const isPublicIn = (node: SourceNode, absent = true): boolean =>
  node.flag('public', node.flag('shown', absent));

const NAME = /^[A-Za-z_]\w*$/;

/** Returns the name of an entry; reports a missing or unusable one. */
export function nameOf(node: SourceNode): string {
  const name = node.text('name') ?? '';
  if (!NAME.test(name)) node.fail('"name" must be letters, digits and underscores', 'name');
  return name;
}

/** Words that are written in lower case within a title. */
const SMALL_WORDS = new Set(
  'and or nor a an the so but to of at by from into on onto off out in over with for'.split(' '),
);

/** Returns a title made of a name, as in Cube: `paid_at` becomes `Paid at`, `user_id` becomes `User ID`. */
function titleOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_');
  const shown = words
    .filter((word) => word !== '')
    .map((word, index) =>
      index > 0 && SMALL_WORDS.has(word) ? word : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`,
    );
  return shown.join(' ').replace(/\bId(s?)\b/g, 'ID$1');
}

/** Returns the title of an entry, or one made of its name. */
export const memberTitle = (node: SourceNode, name: string): string => node.text('title') ?? titleOf(name);
