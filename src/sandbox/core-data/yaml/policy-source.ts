// Reads access policies of Cube's YAML: groups, conditions, members and rows.
import { isJsonObject } from '../../json.ts';
import type { Policy, RowFilter } from '../model.ts';
import { parseCondition } from '../policy-condition.ts';
import { requireKeys, type SourceNode } from './model-source.ts';

const OPERATORS = ['equals', 'in', 'notEquals', 'notIn'] as const;

function textsAt(node: SourceNode, name: string): string[] | '*' | undefined {
  const value = node.values[name];
  if (value === undefined || value === null) return undefined;
  if (value === '*') return '*';
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  node.fail(`"${name}" must be "*" or a list of names`, name);
  return undefined;
}

function groupsOf(node: SourceNode): string[] {
  const { group, groups, role } = node.values;
  const named = groups ?? group ?? role;
  const all: unknown[] = Array.isArray(named) ? named : [named];
  if (all.length > 0 && all.every((one) => typeof one === 'string' && one !== '')) return all as string[];
  node.fail('a policy needs "group"');
  return [];
}

function filtersOf(node: SourceNode, dimensions: ReadonlySet<string>): RowFilter[] {
  return node.nodes('filters').flatMap((filter): RowFilter[] => {
    if ('or' in filter.values || 'and' in filter.values) filter.fail('"or" and "and" are not supported here');
    requireKeys(filter, 'rowFilter');
    const dimension = filter.text('member') ?? filter.text('dimension') ?? '';
    const operator = OPERATORS.find((one) => one === filter.values['operator']);
    const { values } = filter.values;
    const name = dimension.replace(/^\{?CUBE\}?\./, '');
    if (!dimensions.has(name)) filter.fail(`"${dimension}" is no dimension of this entry`, 'member');
    if (!operator) {
      filter.fail(`the operator of a policy must be one of ${OPERATORS.join(', ')}`, 'operator');
      return [];
    }
    const isScalar = (one: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof one);
    if (typeof values === 'string') return [{ dimension: name, operator, values }];
    if (Array.isArray(values) && values.length > 0 && values.every(isScalar))
      return [{ dimension: name, operator, values: values.map(String) }];
    filter.fail('"values" must be a list with entries, or one text', 'values');
    return [];
  });
}

/** Returns the policies of a cube or view, one for each group. */
export function readPolicies(
  node: SourceNode,
  members: ReadonlySet<string>,
  dimensions: ReadonlySet<string>,
): Policy[] {
  return node.nodes('access_policy').flatMap((policy) => {
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
    const row = policy.values['row_level'];
    const filters = rows && !rows.flag('allow_all', false) ? filtersOf(rows, dimensions) : [];
    if (isJsonObject(row) && row['allow_all'] !== true && filters.length === 0)
      rows?.fail('"row_level" needs "filters" or "allow_all: true"');
    return groupsOf(policy).map((group) => ({
      group,
      filters,
      ...(conditions.length > 0 ? { conditions } : {}),
      ...(level ? { members: { includes: includes ?? '*', excludes: excludes ?? [] } } : {}),
    }));
  });
}
