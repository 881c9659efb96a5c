// Builds security contexts: the groups and attribute values that access policies use (contract 5.6).
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import type { StoredAttributeValue, UserRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';
import { effectiveValue, isAttributeValue } from '../users/attribute-types.ts';

/**
 * Groups and attributes that policies use. Only the claims inside `cubeCloud` become part of it; other claims give no
 * rights.
 */
export interface CoreDataSecurityContext {
  readonly groups: readonly string[];
  readonly userAttributes: Readonly<Record<string, StoredAttributeValue>>;
}

/** Context without groups and attributes: the rights that every valid token has. */
export const EMPTY_CONTEXT: CoreDataSecurityContext = { groups: [], userAttributes: {} };
/** Reserved claim that contains groups and attributes (contract 0.2). */
const WRAPPER = 'cubeCloud';

/** Returns the context of a platform user: group names and effective values of all attributes (contract 3.2). */
export function contextOfUser(current: CurrentState, user: UserRecord): CoreDataSecurityContext {
  const { state } = current;
  const groups = [...state.memberships.groupsOf(user.id)].flatMap(
    (id) => state.groups.get(id)?.displayName ?? [],
  );
  const values = state.attributes.rows().flatMap((definition): [string, StoredAttributeValue][] => {
    const value = effectiveValue(definition, user.values.get(definition.id));
    return value === null ? [] : [[definition.name, value]];
  });
  return { groups, userAttributes: Object.fromEntries(values) };
}

/**
 * Returns the context in the claims of a token: `cubeCloud: {groups, userAttributes}`. Properties of the wrong
 * type count as absent, which grants less.
 */
export function contextOfClaims(claims: SandboxJsonObject): CoreDataSecurityContext {
  const wrapper = own(claims, WRAPPER);
  if (!isJsonObject(wrapper)) return EMPTY_CONTEXT;
  const groups = own(wrapper, 'groups');
  const attributes = own(wrapper, 'userAttributes');
  const values = Object.entries(isJsonObject(attributes) ? attributes : {}).flatMap(
    ([name, value]): [string, StoredAttributeValue][] => (isAttributeValue(value) ? [[name, value]] : []),
  );
  return {
    groups: Array.isArray(groups) ? groups.filter((name) => typeof name === 'string') : [],
    userAttributes: Object.fromEntries(values),
  };
}
