// Maps stored records to the desired state at a target. Compiled once for each target.
import {
  evaluateFilter,
  parseFilter,
  profileOf,
  readPath,
  type Resource,
  type ResourceType,
} from '../../scim/index.ts';
import { byName, type GroupName } from '../../directory/records.ts';
import type { AttributeValue, UserAttributeType } from '../../platform/wire.ts';
import { compilePattern } from '../../support/linear-regexp.ts';
import { compileExpression } from './expression.ts';
import { toAttributeValue, UnorderedList, type MappedValue } from './values.ts';

/** Source of an attribute's value: either `from` (a SCIM path) or `expression` (JSONata). */
export interface AttributeRule {
  type: UserAttributeType;
  from?: string;
  expression?: string;
  onEmpty: 'keep' | 'clear';
}

/** The settings of a target by which records are mapped. */
export interface MappingRules {
  users: { scope: string };
  groups: { include: string[]; exclude: string[]; rename: { match: string; to: string }[] };
  attributes: Record<string, AttributeRule>;
}

/** Core attributes by PATCH path; null: unset. */
export type Core = Record<string, string | boolean | null>;

/** The desired state of a user at a target. */
export interface DesiredUser {
  /** False: the user is out of the scope of the target, so the policy `sync` closes the account. */
  inScope: boolean;
  active: boolean;
  core: Core;
  /** Managed attributes; null: the value is removed. */
  attributes: Record<string, AttributeValue>;
  /** Attributes whose value cannot be computed or converted. */
  faults: { attribute: string; reason: string }[];
}

export interface Mapping {
  /** Returns the desired state of a user. @param groups the user's groups */
  user(resource: Resource, id: string, groups: GroupName[]): Promise<DesiredUser>;
  /** Returns the group's name at the target; undefined when the group is out of scope. */
  groupName(displayName: string): string | undefined;
  /** Whether the rules of users read their groups. If so, a change of a membership or of a group's name maps the users again. */
  rulesReadGroups: boolean;
  /** Types of the managed attributes by name. */
  types: Record<string, UserAttributeType>;
}

/** Returns whether the scope is one of the texts that mean all users: `active or true`, the default, or `true`. */
export const isEveryone = (scope: string): boolean => ['true', 'active or true'].includes(scope.trim());

/**
 * Compiles the mapping of a target.
 * @throws Error when a path, filter, expression or pattern does not compile; check-config reports these earlier
 */
export function compileMapping(rules: MappingRules, userType: ResourceType): Mapping {
  // An operator writes the scope, so every form of a filter that some provider uses is accepted.
  const profile = profileOf('lenient');
  const scopeText = rules.users.scope.trim();
  const scope = isEveryone(scopeText) ? undefined : parseFilter(userType, scopeText, profile);
  /** The managed attributes; `map` computes the value from the resource. */
  const readers = Object.entries(rules.attributes).map(([name, rule]) => ({
    name,
    rule,
    map: compileAttribute(rule, userType),
  }));
  const include = rules.groups.include.map((pattern) => compilePattern(pattern));
  const exclude = rules.groups.exclude.map((pattern) => compilePattern(pattern));
  const rename = rules.groups.rename.map(({ match, to }) => ({ match: compilePattern(match), to }));

  return {
    types: Object.fromEntries(Object.entries(rules.attributes).map(([name, { type }]) => [name, type])),
    rulesReadGroups: mentionsGroups(scopeText) || readers.some(({ rule }) => readsGroups(rule)),

    groupName: (displayName) => {
      if (!include.some((pattern) => pattern.test(displayName))) return undefined;
      if (exclude.some((pattern) => pattern.test(displayName))) return undefined;
      const rule = rename.find(({ match }) => match.test(displayName));
      return rule ? rule.match.replace(displayName, rule.to) : displayName;
    },

    user: async (resource, id, groups) => {
      const mappedResource = toMapped(resource, id, groups);
      const desired: DesiredUser = {
        inScope: scope === undefined || evaluateFilter(scope, mappedResource),
        active: resource.active !== false,
        core: coreOf(resource),
        attributes: {},
        faults: [],
      };
      for (const { name, map } of readers) {
        const mapped = await map(mappedResource);
        if (mapped.kind === 'value') desired.attributes[name] = mapped.value;
        else if (mapped.kind === 'clear') desired.attributes[name] = null;
        else if (mapped.kind === 'invalid') desired.faults.push({ attribute: name, reason: mapped.reason });
      }
      return desired;
    },
  };
}

const mentionsGroups = (text: string): boolean => /\bgroups\b/i.test(text);

const readsGroups = ({ from = '', expression = '' }: AttributeRule): boolean =>
  mentionsGroups(from) || mentionsGroups(expression);

/** Returns the managed attributes whose value at the target stays, because the source has none and `onEmpty` is `keep`. */
export const keptAttributes = (
  { attributes, faults }: Pick<DesiredUser, 'attributes' | 'faults'>,
  types: Mapping['types'],
): string[] =>
  Object.keys(types).filter(
    (name) => attributes[name] === undefined && !faults.some(({ attribute }) => attribute === name),
  );

/**
 * Returns the resource as filters, paths and expressions see it. The groups are in order of name, so that people in the same
 * groups get the same value, in whichever order they joined.
 */
export const toMapped = (resource: Resource, id: string, groups: readonly GroupName[]): Resource => ({
  ...resource,
  id,
  groups: [...groups].sort(byName).map((group) => ({ value: group.id, display: group.displayName })),
});

/**
 * Returns a function that computes the value of one attribute and never rejects.
 * @throws Error when the path or the expression does not compile
 */
export function compileAttribute(
  rule: AttributeRule,
  userType: ResourceType,
): (mapped: Resource) => Promise<MappedValue> {
  const read = compileRule(rule, userType);
  return async (mapped) => {
    try {
      const found = toAttributeValue(rule.type, await read(mapped), rule.onEmpty);
      if (found.kind !== 'value' || !Array.isArray(found.value) || !readsGroups(rule)) return found;
      const unordered = UnorderedList.from<string | number>(found.value) as string[] | number[];
      return { kind: 'value', value: unordered };
    } catch (error) {
      return { kind: 'invalid', reason: `expression failed: ${(error as Error).message}` };
    }
  };
}

/** Returns a function that reads the raw value of one attribute: all values for a list type, else the first. */
function compileRule(rule: AttributeRule, userType: ResourceType): (resource: Resource) => unknown {
  if (rule.expression !== undefined) {
    return compileExpression(rule.expression);
  }
  const isList = rule.type.endsWith('_array');
  const read = readPath(userType, rule.from ?? '');
  return (resource) => {
    const values = read(resource);
    if (values.length === 0) return undefined;
    return isList ? values : values[0];
  };
}

/** Returns a text that is not empty; null for any other value. */
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Returns the core attributes; of several addresses the primary one, else the first of type `work`, else the first. */
function coreOf(resource: Resource): Core {
  const name = (resource.name ?? {}) as { givenName?: unknown; familyName?: unknown };
  const emails = (Array.isArray(resource.emails) ? resource.emails : []) as {
    value?: unknown;
    type?: unknown;
    primary?: unknown;
  }[];
  const email =
    emails.find(({ primary }) => primary === true) ?? emails.find(({ type }) => type === 'work') ?? emails[0];
  return {
    userName: text(resource.userName),
    externalId: text(resource.externalId),
    displayName: text(resource.displayName),
    'name.givenName': text(name.givenName),
    'name.familyName': text(name.familyName),
    emails: text(email?.value),
  };
}

/** Returns the externalId as text; null: there is none. */
export const externalIdOf = ({ externalId }: Core): string | null =>
  externalId === null ? null : String(externalId);
