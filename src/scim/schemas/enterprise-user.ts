// Defines the enterprise extension of User (RFC 7643 §4.3 and §8.7.1).
import { attribute, type Schema } from '../attributes.ts';
import { ENTERPRISE_USER_URN } from '../urns.ts';

export const enterpriseUserSchema: Schema = {
  id: ENTERPRISE_USER_URN,
  name: 'EnterpriseUser',
  description: 'Enterprise user',
  attributes: [
    attribute('employeeNumber', 'Number or text that the organisation gave the person.'),
    attribute('costCenter', 'Cost centre.'),
    attribute('organization', 'Organisation.'),
    attribute('division', 'Division.'),
    attribute('department', 'Department.'),
    attribute('manager', 'The manager of the user.', {
      type: 'complex',
      subAttributes: [
        attribute('value', 'Identifier of the manager.', { caseExact: true }),
        // Accepted instead of `value` only with the deviation `reference-for-value` (profiles.ts); only `value` is stored.
        attribute('$ref', 'Address of the manager.', {
          type: 'reference',
          caseExact: true,
          mutability: 'readOnly',
          referenceTypes: ['User'],
          announced: false,
        }),
        attribute('displayName', 'Display name of the manager.', { mutability: 'readOnly' }),
      ],
    }),
  ],
};
