// Routes of inbound tokens. A secret is shown only once, in the answer that creates the token.
import { randomBytes } from 'node:crypto';
import type { Actor } from '../../../directory/logs/acts.ts';
import { parseExpiry } from '../../../tokens/expiry.ts';
import {
  issueToken,
  listTokens,
  notIssuedText,
  revokeToken,
  shownOnce,
  TOKEN_NAME,
  type ConnectionTokens,
} from '../../../tokens/operations.ts';
import { Problem } from '../problem.ts';
import { json, deleteRoute, getRoute, stateOf, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, booleanField, object, onlyConnection, textField, toQuery } from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { actor, operatorFields, orderRoute, type OperatorFields } from '../operator-fields.ts';

interface Order {
  connection: string;
  name: string;
  expires?: string;
}

export const tokenRoutes = (context: AdminContext): AdminRoute[] => [
  getRoute<{ connection?: string }>('/tokens', 'listTokens', {
    command: 'token list --json',
    summary: 'Lists all tokens with expiry and last use, without their secrets.',
    query: toQuery({ connection: onlyConnection }),
    answers: { description: 'The tokens.', schema: arrayOf(refTo('Token')) },
    refuses: { 404: 'There is no such connection.' },
    handle: async ({ query: { connection: only } }) => {
      if (only !== undefined) stateOf(context, only); // 404 for an unknown connection
      const found = [];
      for (const { connection } of context.states) {
        if (only !== undefined && connection !== only) continue;
        const tokens = await listTokens(context.clock, tokensIn(context, connection));
        found.push(...tokens.map((token) => ({ connection, ...token })));
      }
      return json(found);
    },
  }),
  orderRoute<Order>('/tokens', 'createToken', {
    command: 'token create --json',
    summary: 'Creates a further token and shows its secret, this once.',
    fields: {
      connection: { ...textField, description: 'Connection that the token is for.' },
      name: { ...textField, pattern: TOKEN_NAME.source, description: 'Unique within the connection.' },
      expires: {
        ...textField,
        description: '90d, 12h, 4w, or a date such as 2027-01-31. Default: the token does not expire.',
      },
    },
    required: ['connection', 'name'],
    answers: {
      status: 201,
      description: 'The token with its secret, which is not shown again.',
      schema: refTo('NewToken'),
    },
    refuses: { 404: 'There is no such connection.', 409: 'The name is taken, or there are too many.' },
    handle: async (order, orderedBy) => json(await create(context, order, orderedBy), 201),
  }),
  deleteRoute<OperatorFields>('/tokens/{connection}/{name}', 'revokeToken', {
    command: 'token revoke --json',
    summary: 'Revokes a token. All processes refuse it within two seconds.',
    params: { connection: 'Connection of the token.', name: 'Name of the token.' },
    query: toQuery(operatorFields),
    answers: {
      description: 'The token is revoked.',
      schema: object({ connection: textField, name: textField, revoked: booleanField }),
    },
    refuses: { 404: 'There is no such connection or token.', 409: 'The token is in the settings.' },
    handle: async (call) => {
      const { connection = '', name = '' } = call.params;
      // A DELETE has no body, so the operator's fields are in its query.
      const orderedBy = actor(call.query, call);
      const outcome = await revokeToken(tokensIn(context, connection), name, orderedBy);
      if (outcome === 'in settings')
        throw new Problem(409, `${name} is a token in the settings of ${connection}: remove it there.`);
      if (outcome === 'unknown')
        throw new Problem(404, `${connection} has no token ${name}: see /admin/v1/tokens.`);
      context.logger.warn({ connection, tokenName: name }, 'token revoked by the admin API');
      return json({ connection, name, revoked: true });
    },
  }),
];

/** Returns the tokens and the audit log of a connection. @throws Problem 404 with the names that exist, for an unknown one */
function tokensIn(context: AdminContext, connection: string): ConnectionTokens {
  const { tokens, acts } = stateOf(context, connection);
  return { settings: context.tokensOf(connection), stored: tokens, acts };
}

async function create(context: AdminContext, { connection, name, expires }: Order, orderedBy: Actor) {
  const { clock, logger } = context;
  const outcome = await issueToken({ clock, randomBytes }, tokensIn(context, connection), {
    name,
    expiresAt: expires === undefined ? null : expiryOf(expires, clock.now()),
    ...orderedBy,
  });
  if (outcome.kind !== 'issued') throw new Problem(409, notIssuedText(outcome.kind, connection, name));
  logger.warn({ connection, tokenName: name }, 'token created by the admin API');
  return shownOnce(connection, outcome);
}

function expiryOf(given: string, now: number): number {
  const expiry = parseExpiry(given, now);
  if ('fault' in expiry) throw new Problem(400, `expires ${expiry.fault}`);
  return expiry.at;
}
