// Defines the resources of the reconcile measurement, as the directory and the platform double hold them.
import { user, userId, userName } from './people.mjs';

const ATTRIBUTES = 'urn:cube:params:1.0:UserAttribute';

export const groupId = (index) => `group${String(index).padStart(15, '0')}`;
export const groupName = (index) => `Team number ${index}`;
/** Returns the index of the group whose platform id ends the path. */
export const groupOf = (path) => Number(path.slice(path.lastIndexOf('-') + 1));

/** Attribute mapping for the users of people.mjs. */
export const attributes = {
  region: { type: 'string', from: `${ATTRIBUTES}:region`, onEmpty: 'keep' },
  clearance: { type: 'number', from: `${ATTRIBUTES}:clearance`, onEmpty: 'keep' },
};

const coreOf = (index) => {
  const { externalId, displayName, name } = user(index);
  return { userName: userName(index), externalId, displayName, name };
};

/** Teams of the observed users: as many as the measurement has groups by default. */
const TEAMS = 1000;
/** Time of the bridge's last write of the first user. */
const WRITTEN_AT = Date.parse('2026-01-01T00:00:00Z');

/** Returns the platform's record of a user. */
export function observedUser(index, changedAt) {
  const { region, clearance } = user(index)[ATTRIBUTES];
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', ATTRIBUTES],
    id: `scim-${index}`,
    ...coreOf(index),
    emails: [{ value: userName(index), type: 'work', primary: true }],
    active: true,
    groups: [{ value: `group-${index % TEAMS}`, display: groupName(index % TEAMS) }],
    [ATTRIBUTES]: { region, clearance },
    meta: { resourceType: 'User', created: changedAt, lastModified: changedAt },
  };
}

/** Returns the link between directory and platform as a sync writes it. */
export function linkOf(index) {
  const { name, ...core } = coreOf(index);
  const { region, clearance } = user(index)[ATTRIBUTES];
  return {
    core: {
      ...core,
      'name.givenName': name.givenName,
      'name.familyName': name.familyName,
      emails: userName(index),
      active: true,
    },
    attributes: { region, clearance },
    id: `scim-${index}`,
    origin: 'created',
    account: String(index + 1),
    writtenAt: WRITTEN_AT + index,
  };
}

export const refOf = (index) => `User:${userId(index)}`;
