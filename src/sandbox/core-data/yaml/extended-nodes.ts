// Resolves `extends` of cubes and views: an entry gets the properties of its parent, and replaces members with the same
// names.
import type { SourceNode } from './model-source.ts';

/** Lists whose entries replace those of the parent with the same name; entries of other lists are added. */
const BY_NAME: ReadonlySet<string> = new Set(['measures', 'dimensions', 'segments']);
/** Properties that name the rows of a cube: a child with one of them inherits none of them from its parent. */
const SOURCES = ['sql', 'sql_table'];

/** Returns a cube or view with the properties that it inherits from `parent`. */
function merged(node: SourceNode, parent: SourceNode): SourceNode {
  const hasSource = SOURCES.some((key) => key in node.values);
  const inherited = Object.fromEntries(
    Object.entries(parent.values).filter(([key]) => !(hasSource && SOURCES.includes(key))),
  );
  const ownerOf = (key: string): SourceNode =>
    key in node.values || (hasSource && SOURCES.includes(key)) ? node : parent;
  return {
    values: { ...inherited, ...node.values },
    fail: (message, ...below) => node.fail(message, ...below),
    text: (key) => ownerOf(key).text(key),
    flag: (key, absent) => ownerOf(key).flag(key, absent),
    node: (key) => ownerOf(key).node(key),
    nodes(key) {
      const ofParent = parent.nodes(key);
      const ofChild = node.nodes(key);
      if (!BY_NAME.has(key)) return [...ofParent, ...ofChild];
      const nameOf = ({ values }: SourceNode): unknown => values['name'];
      const namesake = (entry: SourceNode, list: readonly SourceNode[]): SourceNode | undefined =>
        list.find((other) => nameOf(other) === nameOf(entry));
      // An entry of the child takes the place of the entry of the parent with the same name; new ones follow at the end.
      const inParentsOrder = ofParent.map((entry) => namesake(entry, ofChild) ?? entry);
      return [...inParentsOrder, ...ofChild.filter((entry) => !namesake(entry, ofParent))];
    },
  };
}

/** Returns the entries, each merged with its parents; reports unknown and circular parents. */
export function extendedNodes(nodes: readonly SourceNode[]): SourceNode[] {
  const resolve = (node: SourceNode, children: readonly SourceNode[]): SourceNode => {
    const name = node.text('extends');
    if (name === undefined) return node;
    const parent = nodes.find(({ values }) => values['name'] === name);
    if (parent && parent !== node && !children.includes(parent))
      return merged(node, resolve(parent, [...children, node]));
    const fault = parent ? `"${name}" extends itself` : `there is no "${name}" to extend`;
    node.fail(fault, 'extends');
    return node;
  };
  return nodes.map((node) => resolve(node, []));
}
