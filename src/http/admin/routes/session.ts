// Routes of the caller: who is signed in, and the end of the session.
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, object, textField } from '../schema-fields.ts';
import { ALL_RIGHTS } from '../sign-in/rights.ts';

const orNull = (description: string) => ({ type: ['string', 'null'], description });

export const sessionRoutes = (_context: AdminContext): AdminRoute[] => [
  route({
    method: 'get',
    path: '/caller',
    id: 'readCaller',
    summary: 'Who calls, and what this caller may do.',
    answers: {
      status: 200,
      description: 'The caller.',
      schema: object({
        name: orNull('Name in acts; null: the admin token, whose holders give a name with each order.'),
        person: orNull('Unique id of the person: issuer and subject; null: the admin token.'),
        rights: { ...arrayOf({ enum: ALL_RIGHTS }), description: 'What the roles allow.' },
        via: { ...textField, enum: ['token', 'openid', 'proxy'], description: 'How the caller is known.' },
      }),
    },
    handle: ({ caller: { name, person, rights, via } }) =>
      Promise.resolve(json({ name, person, rights, via })),
  }),
  route({
    method: 'delete',
    path: '/session',
    id: 'signOut',
    summary: 'Ends the session of the caller; without one nothing happens.',
    right: 'read',
    answers: { status: 200, description: 'The session has ended.', schema: object({}) },
    handle: async ({ caller }) => {
      await caller.signOut?.();
      return json({});
    },
  }),
];
