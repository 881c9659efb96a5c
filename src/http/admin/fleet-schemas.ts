// Defines the JSON Schemas of the processes of the service, of the progress of a load (docs/glossary.md), and of the breaker of a
// target. The TypeScript type that each schema names explains its fields.
import { DUTIES, type FleetProcess } from '../../directory/fleet/fleet-store.ts';
import type { BreakerState } from '../../directory/outbox/breaker.ts';
import type { Pause } from '../../directory/outbox/budget.ts';
import { FLEET_FINDINGS, type FleetFinding, type FleetReport } from '../../ops/status/fleet.ts';
import { LOAD_BOUNDS, type LoadProgress } from '../../ops/status/load-progress.ts';
import {
  eachOf,
  arrayOf,
  booleanField,
  integerField,
  nullable,
  object,
  objectOf,
  omittable,
  textField,
  unixMs,
} from './schema-fields.ts';

export const loadSchema = {
  oneOf: [
    { type: 'null', description: 'nothing loads' },
    objectOf<LoadProgress>()({
      since: unixMs,
      done: integerField,
      total: integerField,
      perSecond: nullable('number'),
      secondsLeft: nullable('integer'),
      bound: { enum: [...LOAD_BOUNDS, null] },
    }),
  ],
};

const work = object({
  processor: { type: 'number' },
  targets: {
    type: 'object',
    additionalProperties: object({
      ...eachOf(['calls', 'delayed', 'waiting', 'queued'], integerField),
      busy: { type: 'number' },
    }),
  },
});

const fleetProcess = objectOf<FleetProcess>()({
  id: textField,
  role: { enum: ['all', ...DUTIES] },
  version: textField,
  host: textField,
  port: integerField,
  pid: integerField,
  startedAt: unixMs,
  sentAt: { ...unixMs, description: 'Time of the last beat by the clock of the process, Unix milliseconds.' },
  lastBeatAt: unixMs,
  beatAgeMs: integerField,
  silent: booleanField,
  work: omittable(work),
});
export const fleetFinding = objectOf<FleetFinding>()({
  finding: { enum: FLEET_FINDINGS },
  level: { enum: ['warning', 'error'] },
  message: textField,
  advice: textField,
});

export const fleetSchema = objectOf<FleetReport>()({
  processes: arrayOf(fleetProcess),
  findings: arrayOf(fleetFinding),
});

/** Fields of a pause, without its end. */
export const PAUSE_FIELDS = {
  status: integerField,
  asked: booleanField,
  askedMs: omittable({
    ...integerField,
    description: 'Wait in milliseconds that the platform asked for, where the bridge pauses for less.',
  }),
};

export const breakerSchema = objectOf<BreakerState>()({
  open: booleanField,
  since: omittable(unixMs),
  status: omittable(integerField),
  probeAt: omittable(unixMs),
  resumedAt: omittable(unixMs),
  only: omittable(arrayOf(textField)),
  ofOtherKey: omittable({
    const: true,
    description: 'The refused key is not the one of these settings.',
  }),
  pause: omittable(objectOf<Pause>()({ until: unixMs, ...PAUSE_FIELDS })),
});
