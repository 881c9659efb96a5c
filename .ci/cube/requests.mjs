// Lists the recorded requests of Core Data by subject. A request with `known` differs at Cube for the reason given;
// docs/sandbox.md explains these differences.
import { FILTERS } from './requests/filters.mjs';
import { MEASURES } from './requests/measures.mjs';
import { GROUPS, POLICIES } from './requests/policies.mjs';
import { ANSWERS, FORMS, ORDERS, SEVERAL } from './requests/queries.mjs';
import { COMBINED } from './requests/several.mjs';
import { TIMES, ZONES } from './requests/times.mjs';
import { TOKENS, TRANSPORT } from './requests/transport.mjs';

/** All requests with a number by subject, such as `times.12`. */
export const REQUESTS = Object.entries({
  transport: TRANSPORT,
  tokens: TOKENS,
  forms: FORMS,
  answers: ANSWERS,
  times: TIMES,
  zones: ZONES,
  filters: FILTERS,
  measures: MEASURES,
  orders: ORDERS,
  several: SEVERAL,
  combined: COMBINED,
  policies: POLICIES,
  groups: GROUPS,
}).flatMap(([subject, requests]) =>
  requests.map((request, place) => ({ ...request, id: `${subject}.${place + 1}` })),
);
