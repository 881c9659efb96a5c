// Reads and checks the properties that the entries of a model have in common, such as cubes and their members: which keys are
// supported, the name, the title, and whether clients may use the entry.
import type { SourceNode } from './model-source.ts';

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

/** Reports keys that the sandbox does not know: they could change what the model shows. */
export function requireKeys(node: SourceNode, kind: keyof typeof KEYS): void {
  for (const name of Object.keys(node.values)) {
    if (!KEYS[kind].includes(name) && !IGNORED.includes(name))
      node.fail(`"${name}" is not supported here`, name);
  }
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

/** Returns the title of an entry, or one made of its name. */
export const memberTitle = (node: SourceNode, name: string): string => node.text('title') ?? titleOf(name);

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

/** Words that are written in lower case within a title. */
const SMALL_WORDS = new Set(
  'and or nor a an the so but to of at by from into on onto off out in over with for'.split(' '),
);
