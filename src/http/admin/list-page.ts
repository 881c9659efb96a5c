// Defines the query fields `offset` and `limit` of a list that is returned in pages.
import { integerField, limitField } from './schema-fields.ts';

/** Largest page, and the usual default. */
export const MOST_OF_A_PAGE = 1000;

/** @param things plural noun for the listed objects, such as `dead letters` */
export const pageFields = (things: string, byDefault = MOST_OF_A_PAGE) => ({
  offset: {
    ...integerField,
    minimum: 0,
    description: `Number of ${things} to leave out at the beginning.`,
  },
  limit: limitField(MOST_OF_A_PAGE, `Largest number of ${things}.`, byDefault),
});
