// Reads access policies of Cube's YAML: groups, conditions, members and rows.
import { isJsonObject } from '../../json.ts';
import type { Policy, RowFilter } from '../model.ts';
import { parseCondition } from '../policy-condition.ts';
import { requireKeys, type SourceNode } from './model-source.ts';

const MAX_ALTERNATIVES = 64;
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

function filterOf(filter: SourceNode, dimensions: ReadonlySet<string>): RowFilter[] {
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
}

/** Returns filters as alternatives, each with the filters that must all match; `or` gives several. */
function alternativesOf(filters: readonly SourceNode[], dimensions: ReadonlySet<string>): RowFilter[][] {
  let alternatives: RowFilter[][] = [[]];
  for (const filter of filters) {
    const group = ['or', 'and'].find((name) => name in filter.values);
    if (group !== undefined && filter.nodes(group).length === 0)
      filter.fail(`"${group}" needs filters`, group);
    const parts =
      group === 'or'
        ? filter.nodes('or').flatMap((one) => alternativesOf([one], dimensions))
        : group === 'and'
          ? alternativesOf(filter.nodes('and'), dimensions)
          : [filterOf(filter, dimensions)];
    alternatives = alternatives.flatMap((one) => parts.map((part) => [...one, ...part]));
    if (alternatives.length > MAX_ALTERNATIVES) {
      filter.fail(`the filters of a policy have more than ${MAX_ALTERNATIVES} alternatives`);
      return [];
    }
  }
  return alternatives;
}

/** Returns the policies of a cube or view, one for each group and alternative. */
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
    const filters = rows && !rows.flag('allow_all', false) ? rows.nodes('filters') : [];
    if (isJsonObject(row) && row['allow_all'] !== true && filters.length === 0)
      rows?.fail('"row_level" needs "filters" or "allow_all: true"');
    const shared = {
      ...(conditions.length > 0 ? { conditions } : {}),
      ...(level ? { members: { includes: includes ?? '*', excludes: excludes ?? [] } } : {}),
    };
    const alternatives = alternativesOf(filters, dimensions);
    // Policies of one group add up, so that each alternative is a policy of its own.
    return groupsOf(policy).flatMap((group) =>
      alternatives.map((one) => ({ group, filters: one, ...shared })),
    );
  });
}
