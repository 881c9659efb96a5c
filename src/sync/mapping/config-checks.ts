// Checks settings that JSON Schema cannot check: whether expressions, filters and paths compile.
import { compileExpression } from './expression.ts';
import { isEveryone } from './mapping.ts';
import {
  parseFilter,
  profileOf,
  readPath,
  userResourceType,
  type CustomSchema,
  type ResourceType,
} from '../../scim/index.ts';

/** Creates the User type of the settings; undefined for invalid schemas, which another check reports. */
function typeWith(schemas: readonly CustomSchema[]): ResourceType | undefined {
  try {
    return userResourceType({ userAttributes: [], schemas });
  } catch {
    return undefined;
  }
}

/** Returns the error of a compilation with advice; undefined: the text compiles. */
function faultOf(compile: () => unknown, advice: string): string | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    return `${(error as Error).message} ${advice}`;
  }
}

/** Each check returns a sentence that describes the fault, or undefined. `schemas`: schema extensions of the settings. */
export const configChecks = {
  expression: (text: string) =>
    faultOf(
      () => compileExpression(text),
      'Write a JSONata expression over the SCIM resource, such as userType = "Contractor".',
    ),
  scopeFilter: (text: string, schemas: readonly CustomSchema[]) => {
    const type = isEveryone(text) ? undefined : typeWith(schemas);
    const advice = 'Write a SCIM filter, such as active eq true.';
    // `lenient`, as in compileMapping.
    return type && faultOf(() => parseFilter(type, text, profileOf('lenient')), advice);
  },
  attributePath: (text: string, schemas: readonly CustomSchema[]) => {
    const type = typeWith(schemas);
    const advice = 'Write a SCIM path, such as addresses[type eq "work"].country.';
    return type && faultOf(() => readPath(type, text), advice);
  },
};
