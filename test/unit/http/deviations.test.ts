// Tests how deviations of identity providers are logged and counted, and when a profile is suggested.
import { createDeviationLog } from '../../../src/http/scim/deviations.ts';
import type { DeviationName, ProfileName } from '../../../src/scim/index.ts';
import type { Logger } from '../../../src/support/logger.ts';

interface Line {
  deviation?: string;
  profile?: string;
  deviations?: object;
}

function watch(profile: ProfileName, sightings: Partial<Record<DeviationName, number>>[]) {
  const lines: Line[] = [];
  const told: string[] = [];
  const logger = { info: (fields: Line) => lines.push(fields) } as unknown as Logger;
  const deviations = createDeviationLog(
    { logger, onDeviation: (connection, kind) => told.push(`${connection} ${kind}`) },
    { name: 'hr', profile },
  );
  for (const sighting of sightings) {
    for (const [kind, count] of Object.entries(sighting)) {
      for (let seen = 0; seen < count; seen += 1) deviations(kind as DeviationName);
    }
  }
  return {
    told,
    deviations: lines.filter((line) => line.deviation),
    suggestions: lines.filter((line) => line.profile),
  };
}

test('a repeated deviation of a provider is logged once and counted each time', () => {
  const { told, deviations } = watch('entra', [{ 'operation-case': 3, 'string-booleans': 2 }]);
  expect(deviations).toEqual([
    { connection: 'hr', deviation: 'operation-case' },
    { connection: 'hr', deviation: 'string-booleans' },
  ]);
  expect(told).toEqual([
    ...Array<string>(3).fill('hr operation-case'),
    ...Array<string>(2).fill('hr string-booleans'),
  ]);
});

test('under the profile auto, deviations that fit one profile log one suggestion of it, and deviations that fit only another log one more', () => {
  const { suggestions } = watch('auto', [{ 'operation-case': 400 }, { 'read-only-ignored': 400 }]);
  expect(suggestions).toEqual([
    { connection: 'hr', profile: 'entra', deviations: { 'operation-case': 5 } },
    { connection: 'hr', profile: 'lenient', deviations: { 'operation-case': 400, 'read-only-ignored': 5 } },
  ]);
});

test.each(['entra', 'okta', 'lenient', 'rfc'] as const)(
  'a configured profile %s gets no suggestion',
  (profile) => {
    expect(watch(profile, [{ 'operation-case': 400 }]).suggestions).toEqual([]);
  },
);
