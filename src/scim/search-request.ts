// Parses the body of POST /.search (RFC 7644 §3.4.3).
import { invalidSyntax, invalidValue } from './errors.ts';
import { toListQuery, type ListLimits, type ListQuery } from './list-response.ts';
import type { Profile } from './profiles.ts';
import { SEARCH_REQUEST_URN } from './urns.ts';
import { isObject, member } from './json.ts';

function names(name: string, raw: unknown): unknown {
  if (!Array.isArray(raw)) return raw;
  if (raw.some((item) => typeof item !== 'string')) throw invalidValue(`"${name}" must list names.`);
  return raw.join(',');
}

/**
 * Converts a SearchRequest to a list query. `attributes` may be a list, as in the RFC, or text.
 * @throws 400 invalidSyntax when the body is no object or no SearchRequest, 400 invalidValue for its members.
 */
export function parseSearchRequest(body: unknown, limits: ListLimits, profile: Profile): ListQuery {
  if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const own = (name: string): unknown => member(body, name);
  const schemas = own('schemas');
  const isSearch = Array.isArray(schemas) && schemas.includes(SEARCH_REQUEST_URN);
  if (!isSearch && !profile.allows('message-schema')) {
    throw invalidSyntax(`"schemas" must be ["${SEARCH_REQUEST_URN}"].`);
  }
  return toListQuery(
    {
      startIndex: own('startIndex'),
      count: own('count'),
      cursor: own('cursor'),
      filter: own('filter'),
      sortBy: own('sortBy'),
      sortOrder: own('sortOrder'),
      attributes: names('attributes', own('attributes')),
      excludedAttributes: names('excludedAttributes', own('excludedAttributes')),
    },
    limits,
  );
}
