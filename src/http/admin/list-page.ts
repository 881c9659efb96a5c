// Defines the query parameters `offset` and `limit` of a list that is returned in pages.
import type { Parameter } from './route.ts';
import { integerField } from './schema-fields.ts';

/** Largest page, and the default. */
export const MOST_OF_A_PAGE = 1000;

/** @param things plural noun for the listed objects, such as `dead letters` */
export const pageQuery = (things: string): Record<'offset' | 'limit', Parameter> => ({
  offset: {
    description: `Number of ${things} to leave out at the beginning.`,
    schema: { ...integerField, minimum: 0 },
  },
  limit: {
    description: `Largest number of ${things}.`,
    schema: { ...integerField, minimum: 1, maximum: MOST_OF_A_PAGE, default: MOST_OF_A_PAGE },
  },
});
