// What each operation is called, takes and gives. One that is not told of here is served and listed all the same,
// with what its path says of it.
import { CONTROL_PLANE_LINES } from './control-plane-operations.ts';
import type { OperationText } from './operation-text.ts';
import { PEOPLE_LINES } from './people-operations.ts';
import { SCIM_LINES } from './scim-operations.ts';
import { WORKSPACE_LINES } from './workspace-operations.ts';

/** By `<method> <path>`. */
export const OPERATIONS: ReadonlyMap<string, OperationText> = new Map(
  [...SCIM_LINES, ...PEOPLE_LINES, ...CONTROL_PLANE_LINES, ...WORKSPACE_LINES].map(
    ([operation, id, summary, more]) => [operation, { id, summary, ...more }],
  ),
);
