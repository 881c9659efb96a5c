// Defines the JSON Schemas of the processes of the service and of the progress of a load.
import { DUTIES } from '../../directory/fleet/fleet-store.ts';
import { FLEET_FINDINGS } from '../../ops/fleet.ts';
import { LOAD_BOUNDS } from '../../ops/load-progress.ts';
import { arrayOf, booleanField, integerField, nullable, object, textField, unixMs } from './schema-fields.ts';

export const loadSchema = {
  oneOf: [
    { type: 'null', description: 'nothing loads' },
    object({
      ...{ since: unixMs, done: integerField, total: integerField },
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
      ...{ calls: integerField, delayed: integerField, waiting: integerField, queued: integerField },
      busy: { type: 'number' },
    }),
  },
});

const fleetProcess = object(
  {
    ...{ id: textField, role: { enum: ['all', ...DUTIES] }, version: textField, host: textField },
    ...{ port: integerField, pid: integerField, startedAt: unixMs, lastBeatAt: unixMs },
    ...{ beatAgeMs: integerField, silent: booleanField },
    work,
  },
  [
    ...['id', 'role', 'version', 'host', 'port', 'pid', 'startedAt'],
    ...['lastBeatAt', 'beatAgeMs', 'silent'],
  ],
);
export const fleetFinding = object({
  ...{ finding: { enum: FLEET_FINDINGS }, level: { enum: ['warning', 'error'] } },
  ...{ message: textField, advice: textField },
});

export const fleetSchema = object({ processes: arrayOf(fleetProcess), findings: arrayOf(fleetFinding) });

export const breakerSchema = object(
  {
    ...{ open: booleanField, since: unixMs, status: integerField, probeAt: unixMs, only: arrayOf(textField) },
    pause: object({ until: unixMs, status: integerField, asked: booleanField }),
  },
  ['open'],
);
