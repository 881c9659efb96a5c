// Route of the search for people and groups. The text is in the body, because proxies log addresses.
import { isPlaceOfSearch, search } from '../../../ops/search.ts';
import { Problem } from '../problem.ts';
import { json, route, type AdminContext, type AdminRoute } from '../route.ts';
import { arrayOf, body, booleanField, integerField, object, textField } from '../schema-fields.ts';

interface SearchOrder {
  text: string;
  place?: string;
  limit?: number;
}

const DEFAULT_LIMIT = 50;
const MOST = 200;

export const searchRoutes = (context: AdminContext): AdminRoute[] => [
  route<SearchOrder>({
    method: 'post',
    path: '/search',
    id: 'search',
    right: 'read',
    summary: 'People and groups by a part of a name, an address or an id; each answer within about 150 ms.',
    body: body(
      {
        text: {
          ...textField,
          minLength: 2,
          maxLength: 200,
          description: 'Part of a name, mail address or id.',
        },
        place: { ...textField, maxLength: 40, description: 'Where to go on: next of the answer before.' },
        limit: {
          ...integerField,
          minimum: 1,
          maximum: MOST,
          default: DEFAULT_LIMIT,
          description: 'Hits after which the answer ends; it may hold some more.',
        },
      },
      ['text'],
    ),
    answers: {
      status: 200,
      description: 'What was found so far; next is null when everything was looked at.',
      schema: object({
        found: arrayOf(
          object(
            {
              connection: textField,
              kind: { enum: ['User', 'Group'] },
              ref: textField,
              name: textField,
              displayName: textField,
              mail: textField,
              active: booleanField,
            },
            ['connection', 'kind', 'ref', 'name'],
          ),
        ),
        next: { type: ['string', 'null'] },
      }),
    },
    handle: async ({ body: { text, place, limit = DEFAULT_LIMIT }, signal }) => {
      const { states, clock } = context;
      if (place !== undefined && !isPlaceOfSearch(place, states))
        throw new Problem(400, 'place: give next of the answer before, as it was returned.');
      return json(
        await search(states, clock, { text, ...(place === undefined ? {} : { place }), limit, signal }),
      );
    },
  }),
];
