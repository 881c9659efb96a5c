// Routes of the mapping workbench, for an attribute mapping that is not in the settings: one route tries it on one person, another
// counts its effect on all users. The routes write nothing.
import { findResources, toSearched, type FoundResource } from '../../../ops/find.ts';
import { effectOfMapping } from '../../../ops/mapping-effect.ts';
import { tryMapping } from '../../../ops/try-mapping.ts';
import type { ReconcileScope } from '../../../reconcile/scope.ts';
import { invalid, Problem, severalProblem, tooManyProblem } from '../problem.ts';
import { json, requireTarget, scopesAt, postRoute, type AdminContext, type AdminRoute } from '../route.ts';
import {
  eachOf,
  arrayOf,
  body,
  booleanField,
  integerField,
  nameField,
  nullable,
  object,
  textField,
} from '../schema-fields.ts';

interface Order {
  target: string;
  attributes: object;
}

/** Largest mapping, in characters of its JSON. */
const MOST_CHARACTERS = 65_536;
/** Largest number of concurrent trials in this process; each computes in the event loop for up to five seconds. */
const MOST_TRIALS = 2;
/** Time limit of counting an effect. */
const EFFECT_MS = 30_000;
const RETRY_SECONDS = 2;

const target = textField;
const attributes = {
  type: 'object',
  maxProperties: 200,
  description: 'The mapping, as in targets.<name>.attributes of the settings; 64 kB at most.',
};
const faults = arrayOf(
  object({
    path: { ...textField, description: 'Path below the attributes, such as /region/from.' },
    message: textField,
  }),
);
const fault = nullable('string');
const anyValue = { description: 'Of a long value only the beginning of its JSON is shown.' };

const trial = object({
  ...eachOf(['connection', 'target', 'ref', 'name'], textField),
  inScope: booleanField,
  resource: { type: 'object', description: 'The pushed resource as the mapping sees it.' },
  values: arrayOf(
    object({
      name: textField,
      type: textField,
      outcome: { enum: ['value', 'clear', 'keep', 'fault'] },
      desired: anyValue,
      applied: anyValue,
      fault,
    }),
  ),
  faults,
  triedOnSamples: {
    ...booleanField,
    description: 'Whether the mapping was also tried on the sample people before the time limit.',
  },
});

const effect = object({
  target: textField,
  ...eachOf(['compared', 'total', 'affected'], integerField),
  leftOut: {
    ...integerField,
    description: 'Users who are out of scope, protected, or without an account yet.',
  },
  isWhole: { ...booleanField, description: 'Whether all users were compared before the time limit.' },
  attributes: arrayOf(
    object({ name: textField, changed: integerField, emptied: integerField, faulty: integerField }),
  ),
  examples: arrayOf(
    object({
      ...eachOf(['connection', 'ref', 'name', 'attribute'], textField),
      old: anyValue,
      new: anyValue,
      fault,
    }),
  ),
  noLongerMapped: arrayOf(textField),
  faults,
});

export function workbenchRoutes(context: AdminContext): AdminRoute[] {
  const runTrial = createLimit(MOST_TRIALS);
  // One at a time: an effect reads all users of a target.
  const runEffect = createLimit(1);
  return [
    postRoute<Order & { resource: string }>('/workbench/try', 'tryMapping', {
      summary: 'Maps one person with attributes that are not in the settings. Writes nothing.',
      body: body(
        {
          target,
          resource: nameField('A person: userName, externalId, address, id, or a ref such as User:3f…'),
          attributes,
        },
        ['target', 'resource', 'attributes'],
      ),
      answers: { description: 'The typed values, and the faults.', schema: trial },
      refuses: {
        404: 'No person has this name at the target, or there is no such target.',
        409: 'Several people have the name; resources lists their refs.',
      },
      handle: ({ body: { target: name, resource, attributes: given }, signal }) => {
        check(context, name, given);
        return runTrial(async () => {
          const { scope, found } = await findPerson(context, name, resource);
          const [[user], link] = await Promise.all([
            scope.directory.usersOf([found.id]),
            scope.links.get(name, found.ref),
          ]);
          if (!user || user.record.damaged) throw unknown();
          const tried = context.compileTried(name, given);
          return json(await tryMapping(scope, { person: user, name: found.name, link }, tried, signal));
        });
      },
    }),
    postRoute<Order>('/workbench/effect', 'effectOfMapping', {
      summary:
        'Maps all users of a target with attributes that are not in the settings, and counts the values that would ' +
        'differ from those applied last. Writes nothing. Ends after 30 s.',
      body: body({ target, attributes }, ['target', 'attributes']),
      answers: { description: 'Counts and examples.', schema: effect },
      refuses: { 404: 'There is no such target.' },
      handle: ({ body: { target: name, attributes: given }, signal }) => {
        check(context, name, given);
        return runEffect(async () => {
          const scopes = scopesAt(context, name).map(({ scope }) => scope);
          const options = { target: name, limitMs: EFFECT_MS, signal };
          const tried = context.compileTried(name, given);
          return json(await effectOfMapping(scopes, tried, options));
        });
      },
    }),
  ];
}

/** @throws Problem 404 without such a target, 400 for a mapping that is too large */
function check(context: AdminContext, name: string, given: object): void {
  requireTarget(context, name);
  if (JSON.stringify(given).length > MOST_CHARACTERS)
    throw invalid([{ path: '/body/attributes', message: `has more than ${MOST_CHARACTERS} characters` }]);
}

/** @throws Problem 404 when no person has the name, 409 when several have it */
async function findPerson(
  context: AdminContext,
  target: string,
  name: string,
): Promise<{ scope: ReconcileScope; found: FoundResource }> {
  const scopes = scopesAt(context, target).map(({ scope }) => scope);
  const people = (await findResources(toSearched(context.states), name)).flatMap((found) => {
    const scope = scopes.find(({ connection }) => connection === found.connection);
    return scope && found.kind === 'User' && found.record ? [{ scope, found }] : [];
  });
  const [first, ...others] = people;
  if (!first) throw unknown();
  if (others.length === 0) return first;
  throw severalProblem(people.map(({ found: { connection, ref } }) => ({ connection, ref })));
}

/** Returns the error for an unknown name. Logs may store problem documents, so the message does not contain the name. */
const unknown = (): Problem =>
  new Problem(
    404,
    'No person of this target has this name. Say a userName, externalId, address, id, or a ref such as User:<id>.',
  );

/** Returns a function that runs its argument, and throws Problem 429 while `most` earlier arguments run. */
function createLimit(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  return async (work) => {
    if (running >= most)
      throw tooManyProblem('Another mapping is being tried here: wait for its end.', RETRY_SECONDS);
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  };
}
