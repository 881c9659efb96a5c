// Defines the core User schema (RFC 7643 §4.1 and §8.7.1).
import { attribute, type Attribute, type Schema } from '../attributes.ts';
import { USER_URN } from '../urns.ts';
import { pluralParts } from './common.ts';

/** Returns a multi-valued attribute. @param value its sub-attribute `value` @param types canonical values of `type` */
const multiValued = (
  name: string,
  description: string,
  value: Attribute,
  types?: readonly string[],
): Attribute =>
  attribute(name, description, {
    type: 'complex',
    multiValued: true,
    subAttributes: pluralParts(value, types),
  });

export const userSchema: Schema = {
  id: USER_URN,
  name: 'User',
  description: 'User Account',
  attributes: [
    attribute('userName', 'Unique name with which the user signs in.', {
      required: true,
      uniqueness: 'server',
    }),
    attribute('name', 'Components of the real name.', {
      type: 'complex',
      subAttributes: [
        attribute('formatted', 'The full name, ready for display.'),
        attribute('familyName', 'Family name.'),
        attribute('givenName', 'Given name.'),
        attribute('middleName', 'Middle names.'),
        attribute('honorificPrefix', 'Title before the name.'),
        attribute('honorificSuffix', 'Suffix after the name.'),
      ],
    }),
    attribute('displayName', 'Name of the user, for display.'),
    attribute('nickName', 'Casual name.'),
    attribute('profileUrl', 'Address of an online profile.', {
      type: 'reference',
      caseExact: true,
      referenceTypes: ['external'],
    }),
    attribute('title', 'Job title.'),
    attribute('userType', 'Relation to the organisation, such as Employee or Contractor.'),
    attribute('preferredLanguage', 'Preferred language, as in Accept-Language.'),
    attribute('locale', 'Language tag for formats.'),
    attribute('timezone', 'Time zone, as in the IANA data base.'),
    attribute('active', 'Whether the user may sign in.', { type: 'boolean' }),
    attribute('password', 'Accepted and not stored: this service does not sign users in.', {
      caseExact: true,
      mutability: 'writeOnly',
      returned: 'never',
    }),
    multiValued('emails', 'E-mail addresses.', attribute('value', 'E-mail address.'), [
      'work',
      'home',
      'other',
    ]),
    multiValued('phoneNumbers', 'Telephone numbers.', attribute('value', 'Telephone number.'), [
      'work',
      'home',
      'mobile',
      'fax',
      'pager',
      'other',
    ]),
    multiValued('ims', 'Instant messaging addresses.', attribute('value', 'Instant messaging address.')),
    multiValued(
      'photos',
      'Addresses of photos.',
      attribute('value', 'Address of a photo.', {
        type: 'reference',
        caseExact: true,
        referenceTypes: ['external'],
      }),
      ['photo', 'thumbnail'],
    ),
    attribute('addresses', 'Physical mailing addresses.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        attribute('formatted', 'The full address, ready for display.'),
        attribute('streetAddress', 'Street, house number, post box.'),
        attribute('locality', 'City.'),
        attribute('region', 'State or region.'),
        attribute('postalCode', 'Postal code.'),
        attribute('country', 'Country code of ISO 3166-1 alpha-2.'),
        attribute('type', 'What the address is used for.', { canonicalValues: ['work', 'home', 'other'] }),
        attribute('primary', 'Whether this is the preferred address.', { type: 'boolean' }),
      ],
    }),
    attribute('groups', 'Groups that the user belongs to; changed through the groups.', {
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      subAttributes: [
        attribute('value', 'Identifier of the group.', { caseExact: true, mutability: 'readOnly' }),
        attribute('$ref', 'Address of the group.', {
          type: 'reference',
          caseExact: true,
          mutability: 'readOnly',
          referenceTypes: ['Group'],
        }),
        attribute('display', 'Name of the group.', { mutability: 'readOnly' }),
        attribute('type', 'How the user belongs to the group.', {
          mutability: 'readOnly',
          canonicalValues: ['direct', 'indirect'],
        }),
      ],
    }),
    multiValued('entitlements', 'Things the user may have or do.', attribute('value', 'Entitlement.')),
    multiValued('roles', 'Roles of the user.', attribute('value', 'Role.')),
    multiValued(
      'x509Certificates',
      'Certificates issued to the user.',
      attribute('value', 'DER-encoded certificate, base64.', { type: 'binary', caseExact: true }),
    ),
  ],
};
