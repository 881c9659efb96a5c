// Routes of the session: read the caller, and sign out.
import { json, deleteRoute, getRoute, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, nullable, object, textField } from '../schema-fields.ts';
import { ALL_RIGHTS } from '../sign-in/rights.ts';

/** Schema of a text or null. */
const orNull = (description: string) => ({ ...nullable('string'), description });

export const sessionRoutes = (_context: AdminContext): AdminRoute[] => [
  getRoute('/caller', 'readCaller', {
    summary: 'Shows the name and the rights of the caller.',
    answers: {
      description: 'The caller.',
      schema: object({
        name: orNull(
          'Name in the audit log; null for the admin token, whose holders give a name with each order.',
        ),
        person: orNull('Unique id of the person: issuer and subject; null for the admin token.'),
        rights: { ...arrayOf({ enum: ALL_RIGHTS }), description: 'Rights that the roles give.' },
        via: {
          ...textField,
          enum: ['token', 'openid', 'proxy'],
          description: 'Way in which the caller signed in.',
        },
      }),
    },
    handle: ({ caller: { name, person, rights, via } }) => json({ name, person, rights, via }),
  }),
  deleteRoute('/session', 'signOut', {
    summary: 'Ends the session of the caller. A caller without a session gets 200 too.',
    // Without this, a DELETE needs `operate`; every caller may sign out.
    right: 'read',
    answers: { description: 'The session has ended.', schema: object({}) },
    handle: async ({ caller }) => {
      await caller.signOut?.();
      return json({});
    },
  }),
];
