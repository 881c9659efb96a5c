// Defines the metrics of messages to receivers: security events and notices.
import { SHARED_HELP } from './load-metrics.ts';

export const RECEIVER_METRICS = {
  eventsPending: {
    type: 'gauge',
    name: 'bridge_events_pending',
    labels: ['connection'],
    help: `Security events that the receiver of a connection has not taken yet. ${SHARED_HELP}`,
  },
  eventsOldest: {
    type: 'gauge',
    name: 'bridge_events_oldest_seconds',
    labels: ['connection'],
    help: `Age of the oldest of them, in seconds; 0 when all are taken. ${SHARED_HELP}`,
  },
  eventsKept: {
    type: 'gauge',
    name: 'bridge_events_refused',
    labels: ['connection'],
    help: `Security events that the receiver refused and a person has to look at. ${SHARED_HELP}`,
  },
  events: {
    type: 'counter',
    name: 'bridge_events_total',
    labels: ['connection', 'outcome'],
    help: `Security events that are no longer pending: delivered, refused, or dropped because they were too many or too old. ${SHARED_HELP}`,
  },
  notices: {
    type: 'counter',
    name: 'bridge_notices_total',
    labels: ['channel', 'result'],
    help: 'Attempts of this process to deliver a notice. Result: delivered, later (sent again) or refused.',
  },
} as const;
