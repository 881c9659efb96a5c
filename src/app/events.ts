// Builds the delivery of security events to the receiver of each connection.
import type { DesiredState } from '../directory/desired-state.ts';
import { createFeed, type Feed } from '../events/feed.ts';
import { createPoll } from '../events/poll.ts';
import { startPush } from '../events/push.ts';
import { startExpiry } from '../events/expire-events.ts';
import type { Admission } from '../http/admission/admission.ts';
import { createEventRouters } from '../http/events.ts';
import type { Parts } from './parts.ts';

export interface Events {
  /** By connection name; contains only connections that have a receiver. */
  feeds: Map<string, Feed>;
  /** Routers of the event endpoints, by mount path; empty when the process does not serve requests. */
  routers: ReturnType<typeof createEventRouters>;
  /** Ends all pending long polls at once. */
  drain: () => void;
}

/**
 * @param options.api whether this process serves requests
 * @param options.worker whether this process pushes events to receivers
 */
export function buildEvents(
  parts: Parts,
  states: DesiredState[],
  { api, worker, admission }: { api: boolean; worker: boolean; admission: Admission },
): Events {
  const { config, logger, releasers } = parts;
  const draining = new AbortController();
  const streams = states.flatMap(({ connection, events: stream }) => {
    const settings = config.connections[connection]?.events;
    return settings
      ? [{ settings, stream, feed: createFeed({ stream, pace: admission.pace }, connection, settings) }]
      : [];
  });
  const feeds = streams.map(({ feed }) => feed);
  // A process of any role does this, so that events also expire while no process serves requests or pushes events.
  releasers.add('events', startExpiry(parts, feeds));
  for (const { settings, stream, feed } of streams) {
    const { connection } = feed;
    if (!worker || settings.push === null) continue;
    const push = startPush(
      { ...parts, logger: logger.child({ connection }) },
      { feed, stream },
      settings.push,
    );
    releasers.add(`push of events of ${connection}`, push.stop);
  }
  const endpoints = streams.map(({ settings, feed }) => {
    const { poll } = settings;
    if (poll === null) return { feed };
    return {
      feed,
      poll: {
        ask: createPoll({ ...parts, turns: admission.of(feed.connection).polls }, feed, draining.signal),
        // Read at each poll, because it may be rotated.
        token: () => poll.token,
      },
    };
  });
  return {
    feeds: new Map(feeds.map((feed) => [feed.connection, feed])),
    routers: createEventRouters(parts, api ? endpoints : [], { ...config.server, admission }),
    drain: () => draining.abort(),
  };
}
