// Defines resource types, profiles and resources for the tests of scim/.
import { expect } from '@jest/globals';
import {
  applyPatch as applySteps,
  Comparisons,
  groupResourceType,
  parsePatch as parseSteps,
  parseResource,
  profileOf,
  ScimError,
  userResourceType,
  type PatchOperation,
  type Profile,
  type ProfileName,
  type Resource,
  type ResourceType,
} from '../../../src/scim/index.ts';

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const ATTRIBUTES = 'urn:cube:params:1.0:UserAttribute';
export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export const userType = userResourceType({
  userAttributes: [
    { name: 'region', type: 'string' },
    { name: 'clearance', type: 'number' },
    { name: 'contractor', type: 'boolean' },
    { name: 'regions', type: 'string_array' },
    { name: 'levels', type: 'number_array' },
  ],
});
export const groupType = groupResourceType();

export const auto = profileOf('auto');
export const rfc = profileOf('rfc');

/** Returns a canonical user made from a POST body under `auto`. */
export function user(body: object): Resource {
  return parseResource(userType, { schemas: [USER], userName: 'jo', ...body }, auto);
}

export const patchOp = (...operations: unknown[]): object => ({
  schemas: [PATCH_OP],
  Operations: operations,
});

/** Runs a calculation without pauses. */
export function atOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

export const parsePatch = (...args: Parameters<typeof parseSteps>): PatchOperation[] =>
  atOnce(parseSteps(...args));

export const applyPatch = (
  type: ResourceType,
  resource: Resource,
  operations: readonly PatchOperation[],
  profile: Profile,
): Resource => atOnce(applySteps(type, resource, operations, profile, new Comparisons()));

/** Returns the user after the operations. */
export function patched(resource: Resource, operations: unknown[], profile: ProfileName = 'auto'): Resource {
  const used = profileOf(profile);
  return applyPatch(userType, resource, parsePatch(userType, patchOp(...operations), used), used);
}

/** Returns the error that `act` throws, as `status scimType`; fails when it throws nothing or another error. */
export function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(ScimError);
    const { status, scimType } = error as ScimError;
    return [status, scimType].filter(Boolean).join(' ');
  }
  return 'accepted';
}

/**
 * Expects each named attribute to have exactly this value; undefined: absent. User attributes: only the named ones.
 */
export function expectShows(resource: object, expected: object): void {
  const actual = resource as Record<string, unknown>;
  for (const [key, value] of Object.entries(expected) as [string, unknown][]) {
    if (key === ATTRIBUTES) expectShows(actual[key] ?? {}, value as object);
    else expect([key, actual[key]]).toEqual([key, value]);
  }
}
