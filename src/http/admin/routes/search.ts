// Route of the search for people and groups. The text is in the body, because proxies log addresses.
import { isPlaceOfSearch, search } from '../../../ops/search.ts';
import { Problem } from '../problem.ts';
import { json, postRoute, type AdminContext, type AdminRoute } from '../route.ts';
import {
  eachOf,
  arrayOf,
  body,
  booleanField,
  kindField,
  limitField,
  nullable,
  object,
  textField,
  omittable,
} from '../schema-fields.ts';

interface SearchOrder {
  text: string;
  place?: string;
  limit?: number;
}

/** Number of hits after which the search pauses: by default, and the largest that a client may ask for. */
const DEFAULT_LIMIT = 50;
const MOST_HITS = 200;

export const searchRoutes = (context: AdminContext): AdminRoute[] => [
  postRoute<SearchOrder>('/search', 'search', {
    right: 'read',
    summary:
      'Searches people and groups by a part of a name, address or id. Each answer takes about 150 ms at most.',
    body: body(
      {
        text: {
          ...textField,
          minLength: 2,
          maxLength: 200,
          description: 'Part of a name, mail address or id.',
        },
        place: {
          ...textField,
          maxLength: 40,
          description: 'Where the search continues: next of the previous answer.',
        },
        limit: limitField(
          MOST_HITS,
          'Number of hits after which the search pauses. The answer may have a few more.',
          DEFAULT_LIMIT,
        ),
      },
      ['text'],
    ),
    answers: {
      description: 'The hits of this part of the search; next is null when the search is complete.',
      schema: object({
        found: arrayOf(
          object({
            connection: textField,
            kind: kindField,
            ...eachOf(['ref', 'name'], textField),
            ...eachOf(['displayName', 'mail'], omittable(textField)),
            active: omittable(booleanField),
          }),
        ),
        next: nullable('string'),
      }),
    },
    handle: async ({ body: { text, place, limit = DEFAULT_LIMIT }, signal }) => {
      const { states, clock } = context;
      if (place !== undefined && !isPlaceOfSearch(place, states))
        throw new Problem(400, 'place: give next of the previous answer, unchanged.');
      return json(
        await search(states, clock, { text, ...(place === undefined ? {} : { place }), limit, signal }),
      );
    },
  }),
];
