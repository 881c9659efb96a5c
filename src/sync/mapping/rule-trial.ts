// Evaluates the expressions of a mapping on sample users, so that check-config finds expressions that exceed a limit.
import { LIMITS, type ExpressionFailed } from './expression-failure.ts';
import { compileExpression } from './expression.ts';
import type { AttributeRule } from './mapping.ts';

/** A text of the greatest length that an expression may return. */
const LONG = 'a'.repeat(LIMITS.text);

/** Greatest length of the name of a sample group, without the index at its end. */
const GROUP_NAME_LENGTH = 60;

/** Returns a user in this number of groups whose attributes all have this text. */
const person = (text: string, groups: number): object => ({
  id: '3f',
  userName: text,
  externalId: text,
  displayName: text,
  name: { givenName: text, familyName: text },
  title: text,
  userType: text,
  active: true,
  emails: [{ value: text, type: 'work', primary: true }],
  addresses: [{ type: 'work', country: text, locality: text }],
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: text, costCenter: text },
  groups: Array.from({ length: groups }, (_, at) => ({
    value: `g${at}`,
    display: `${text.slice(0, GROUP_NAME_LENGTH)}-${at}`,
  })),
});

/** Sample users, by the words that describe them. */
const SAMPLES: Record<string, object> = {
  'without any attribute': { id: '3f', userName: 'sample', groups: [] },
  'with usual values': person('sample', 3),
  'with very long values': person(LONG, 3),
  'in 5000 groups': person('sample', 5000),
};

/**
 * Evaluates an expression for each sample.
 * @returns a sentence if it exceeds a limit for one sample or fails for all of them; undefined otherwise, because a
 *   failure for some samples may be caused by their data
 */
export async function tryExpression(text: string): Promise<string | undefined> {
  const evaluate = compileExpression(text);
  const failures: string[] = [];
  for (const [sample, resource] of Object.entries(SAMPLES)) {
    try {
      await evaluate(resource);
    } catch (error) {
      const { message, exceeded } = error as ExpressionFailed;
      if (exceeded) return `The expression ${message} for a sample person ${sample}.`;
      failures.push(message);
    }
  }
  const fails = failures.length === Object.keys(SAMPLES).length;
  return fails ? `The expression fails for every sample person: ${failures[0]}.` : undefined;
}

/**
 * Tries the expressions of all targets.
 * @param targets settings by target name; their expressions compile
 * @returns a fault for each expression that fails, with its place in the settings
 */
export async function tryRules(
  targets: Record<string, { attributes: Record<string, AttributeRule> }>,
): Promise<{ path: string; message: string }[]> {
  const faults: { path: string; message: string }[] = [];
  for (const [target, { attributes }] of Object.entries(targets)) {
    for (const [name, { expression }] of Object.entries(attributes)) {
      const message = expression === undefined ? undefined : await tryExpression(expression);
      if (message !== undefined)
        faults.push({ path: `/targets/${target}/attributes/${name}/expression`, message });
    }
  }
  return faults;
}
