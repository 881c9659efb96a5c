// In whose name data is read: groups and attribute values, as access policies know them (contract 5.6).
import { isObject, own, type JsonObject } from '../json.ts';
import type { AttributeValue, UserRecord } from '../records.ts';
import type { Scene } from '../state.ts';
import { effectiveValue } from '../users/attribute-types.ts';

/** Claims of a token beside the wrapper take no part in policies; the wrapper alone carries rights. */
export interface SecurityContext {
  readonly groups: readonly string[];
  readonly userAttributes: Readonly<Record<string, AttributeValue>>;
}

/** Nobody in particular: sees what every valid token may see. */
export const EMPTY_CONTEXT: SecurityContext = { groups: [], userAttributes: {} };
/** The reserved element of a security context that carries groups and attributes (contract 0.2). */
const WRAPPER = 'cubeCloud';

function toAttributeValue(value: unknown): AttributeValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (!Array.isArray(value)) return undefined;
  if (value.every((item) => typeof item === 'string')) return value;
  return value.every((item) => typeof item === 'number') ? value : undefined;
}

/** The context of a platform user: names of their groups, effective values of all attributes (contract 3.2). */
export function contextOfUser(scene: Scene, user: UserRecord): SecurityContext {
  const { state } = scene;
  const groups = [...state.memberships.groupsOf(user.id)].flatMap(
    (id) => state.groups.get(id)?.displayName ?? [],
  );
  const values = state.attributes.ids().flatMap((id): [string, AttributeValue][] => {
    const definition = state.attributes.get(id);
    const value = definition && effectiveValue(definition, user.values.get(id));
    return definition && value !== null && value !== undefined ? [[definition.name, value]] : [];
  });
  return { groups, userAttributes: Object.fromEntries(values) };
}

/**
 * The context that the claims of a token stand for: `cubeCloud: {groups, userAttributes}`. Members of the wrong
 * type count as absent, which grants less, never more.
 */
export function contextOfClaims(claims: JsonObject): SecurityContext {
  const wrapper = own(claims, WRAPPER);
  if (!isObject(wrapper)) return EMPTY_CONTEXT;
  const groups = own(wrapper, 'groups');
  const attributes = own(wrapper, 'userAttributes');
  const values = Object.entries(isObject(attributes) ? attributes : {}).flatMap(
    ([name, sent]): [string, AttributeValue][] => {
      const value = toAttributeValue(sent);
      return value === undefined ? [] : [[name, value]];
    },
  );
  return {
    groups: Array.isArray(groups) ? groups.filter((name) => typeof name === 'string') : [],
    userAttributes: Object.fromEntries(values),
  };
}
