// Reads access policies of Cube's YAML: groups, conditions, members and rows.
import { OPERATORS } from '../filter-form.ts';
import type { Policy, PolicyFilter } from '../model.ts';
import { parseCondition } from '../policy-condition.ts';
import { requireKeys } from './entry-properties.ts';
import type { SourceNode } from './model-source.ts';

const WITHOUT_VALUES: readonly string[] = ['set', 'notSet'];
/** A dimension of the cube or view: `name`, `{name}`, `CUBE.name`, `{CUBE}.name` or `{CUBE.name}`. */
const OWN = /^\{?(?:CUBE\}?\.)?([A-Za-z_]\w*)\}?$/;

/** Returns a list of names or `*`; undefined without the property, and for another value, which is reported. */
function textsAt(node: SourceNode, name: string): string[] | '*' | undefined {
  const value = node.values[name];
  if (value === undefined || value === null) return undefined;
  if (value === '*') return '*';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  node.fail(`"${name}" must be "*" or a list of names`, name);
  return undefined;
}

function groupsOf(node: SourceNode): string[] {
  // Three spellings of Cube; the first one that is present counts.
  const { group, groups, role } = node.values;
  const named = groups ?? group ?? role;
  const all: unknown[] = Array.isArray(named) ? named : [named];
  if (all.length > 0 && all.every((item) => typeof item === 'string' && item !== '')) return all as string[];
  node.fail('a policy needs "group"');
  return [];
}

function comparisonOf(filter: SourceNode, dimensions: ReadonlySet<string>): PolicyFilter[] {
  requireKeys(filter, 'rowFilter');
  const written = filter.text('member') ?? filter.text('dimension') ?? '';
  const operator = OPERATORS.find((known) => known === filter.values['operator']);
  const { values } = filter.values;
  const [, dimension = ''] = OWN.exec(written) ?? [];
  if (!dimensions.has(dimension)) filter.fail(`"${written}" is no dimension of this entry`, 'member');
  if (!operator) {
    filter.fail(`the operator of a policy must be one of ${OPERATORS.join(', ')}`, 'operator');
    return [];
  }
  const isScalar = (one: unknown): one is string | number | boolean =>
    ['string', 'number', 'boolean'].includes(typeof one);
  if (WITHOUT_VALUES.includes(operator)) return [{ dimension, operator }];
  if (typeof values === 'string') return [{ dimension, operator, values }];
  if (Array.isArray(values) && values.length > 0 && values.every(isScalar))
    return [{ dimension, operator, values }];
  filter.fail('"values" must be a list with entries, or one text', 'values');
  return [];
}

/** Returns a row filter as a list of one: a comparison, or several filters under `or` or `and`. A faulty comparison is left out. */
function filterOf(filter: SourceNode, dimensions: ReadonlySet<string>): PolicyFilter[] {
  const group = (['or', 'and'] as const).find((name) => name in filter.values);
  if (group === undefined) return comparisonOf(filter, dimensions);
  const parts = filter.nodes(group).flatMap((part) => filterOf(part, dimensions));
  if (filter.nodes(group).length === 0) filter.fail(`"${group}" needs filters`, group);
  return [group === 'or' ? { or: parts } : { and: parts }];
}

/** Returns the policies of a cube or view with these member names; `dimensions` are the names by which rows may be filtered. */
export function readPolicies(
  node: SourceNode,
  members: ReadonlySet<string>,
  dimensions: ReadonlySet<string>,
): Policy[] {
  return node.nodes('access_policy').map((policy): Policy => {
    requireKeys(policy, 'policy');
    const conditions = policy.nodes('conditions').flatMap((condition) => {
      requireKeys(condition, 'condition');
      const text = condition.text('if') ?? '';
      const parsed = parseCondition(text);
      if (parsed) return [parsed];
      condition.fail(`the condition ${JSON.stringify(text)} cannot be read`, 'if');
      return [];
    });
    const level = policy.node('member_level');
    if (level) requireKeys(level, 'memberLevel');
    const includes = level && textsAt(level, 'includes');
    const excludes = level && textsAt(level, 'excludes');
    for (const name of [includes ?? [], excludes ?? []].flat())
      if (name !== '*' && !members.has(name)) level?.fail(`"${name}" is no member of this entry`);
    const rows = policy.node('row_level');
    if (rows) requireKeys(rows, 'rowLevel');
    // Without "row_level" a policy does not limit rows.
    const isEveryRow = rows?.flag('allow_all') ?? true;
    const filters = rows && !isEveryRow ? rows.nodes('filters') : [];
    if (!isEveryRow && filters.length === 0) rows?.fail('"row_level" needs "filters" or "allow_all: true"');
    return {
      groups: groupsOf(policy),
      filters: filters.flatMap((filter) => filterOf(filter, dimensions)),
      ...(conditions.length > 0 ? { conditions } : {}),
      ...(level ? { members: { includes: includes ?? '*', excludes: excludes ?? [] } } : {}),
    };
  });
}
