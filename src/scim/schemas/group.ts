// Defines the core Group schema (RFC 7643 §4.2 and §8.7.1).
import { attribute, type Schema } from '../attributes.ts';
import { GROUP_URN } from '../urns.ts';

export const groupSchema: Schema = {
  id: GROUP_URN,
  name: 'Group',
  description: 'Group',
  attributes: [
    attribute('displayName', 'Name of the group.', { required: true, uniqueness: 'server' }),
    attribute('members', 'Members of the group, identified by `value` alone.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        attribute('value', 'Identifier of the member.', { caseExact: true, mutability: 'immutable' }),
        attribute('$ref', 'Address of the member.', {
          type: 'reference',
          caseExact: true,
          mutability: 'immutable',
          referenceTypes: ['User'],
        }),
        attribute('display', 'Name of the member.', { mutability: 'readOnly', announced: false }),
        // Groups as members are stored but not synced, so the schema announces users only.
        attribute('type', 'Kind of the member.', { mutability: 'immutable', canonicalValues: ['User'] }),
      ],
    }),
  ],
};
