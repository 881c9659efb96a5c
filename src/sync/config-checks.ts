// What the settings file can not know by itself: whether expressions, filters and paths compile.
import jsonata from 'jsonata';
import { isEveryone } from './mapping.ts';
import { parseFilter, profileOf, readPath, userResourceType } from '../scim/index.ts';

const userType = () => userResourceType({ userAttributes: [] });

function faultOf(compile: () => unknown, advice: string): string | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    return `${(error as Error).message} ${advice}`;
  }
}

/** Each answers a sentence on what is wrong, or undefined. */
export const configChecks = {
  expression: (text: string) =>
    faultOf(
      () => jsonata(text),
      'Write a JSONata expression over the SCIM resource, such as userType = "Contractor".',
    ),
  scopeFilter: (text: string) =>
    isEveryone(text)
      ? undefined
      : faultOf(
          () => parseFilter(userType(), text, profileOf('lenient')),
          'Write a SCIM filter, such as active eq true.',
        ),
  attributePath: (text: string) =>
    faultOf(
      () => readPath(userType(), text),
      'Write a SCIM path, such as addresses[type eq "work"].country.',
    ),
};
