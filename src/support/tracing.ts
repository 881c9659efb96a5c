// Traces from push to platform call, for OpenTelemetry. Off unless the environment names a collector; then nothing of
// this is loaded, and nothing is asked on the way.
import { createHash } from 'node:crypto';
import type { SpanContext, SpanKind, Tracer } from '@opentelemetry/api';

/** One step on the way, until it ends. */
export interface Step {
  /** W3C trace context: what is called is told where it belongs. */
  traceparent: string;
  /** A step within this one, of something that is called. */
  call: (name: string, attributes: Attributes) => Step;
  /** @param failed what went wrong, in a word */
  end: (failed?: string, attributes?: Attributes) => void;
}

export type Attributes = Record<string, string | number>;

export interface Tracing {
  /** A request that came to its end, under its correlation id. Times are Unix milliseconds. */
  answered: (
    name: string,
    of: {
      request: string;
      startedAt: number;
      endedAt: number;
      failed: boolean;
      caller?: string | undefined;
      attributes: Attributes;
    },
  ) => void;
  /** Work that a request has caused, perhaps much later and in another process: its id is all that has travelled. */
  caused: (name: string, request: string, attributes: Attributes) => Step;
  /** Sends what is not sent yet. */
  stop: () => Promise<void>;
}

const SAMPLED = 1;
/** Marks without a push, such as a resync. */
const NO_REQUEST = '-';

/** @returns undefined when OTEL_EXPORTER_OTLP_ENDPOINT or its twin for traces is not set, or OTEL_SDK_DISABLED is true */
export async function openTracing(env: NodeJS.ProcessEnv): Promise<Tracing | undefined> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const [api, sdk, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const random = new sdk.RandomIdGenerator();
  /** Ids of the next span that is started; starting is synchronous. */
  let next: { traceId: string; spanId: string } | undefined;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new sdk.NodeTracerProvider({
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url }))],
    resource: resourceOf(env.OTEL_SERVICE_NAME ?? 'scim-bridge'),
    idGenerator: {
      generateTraceId: () => next?.traceId ?? random.generateTraceId(),
      generateSpanId: () => next?.spanId ?? random.generateSpanId(),
    },
  });
  const tracer: Tracer = provider.getTracer('scim-bridge');
  const { ROOT_CONTEXT, trace, SpanStatusCode } = api;

  function start(name: string, kind: SpanKind, attributes: Attributes, parent?: SpanContext): Step {
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const span = tracer.startSpan(name, { kind, attributes }, context);
    const own = span.spanContext();
    return {
      traceparent: `00-${own.traceId}-${own.spanId}-0${own.traceFlags & SAMPLED}`,
      call: (called, more) => start(called, api.SpanKind.CLIENT, more, own),
      end: (failed, more) => {
        if (more) span.setAttributes(more);
        if (failed !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failed });
        span.end();
      },
    };
  }

  return {
    answered: (name, { request, startedAt, endedAt, failed, caller, attributes }) => {
      const link = parseTraceparent(caller);
      next = idsOf(request);
      try {
        // The service is open to others, so their trace is linked and does not become ours.
        const span = tracer.startSpan(
          name,
          {
            kind: api.SpanKind.SERVER,
            startTime: startedAt,
            attributes: { ...attributes, 'bridge.request': request },
            links: link ? [{ context: link }] : [],
          },
          ROOT_CONTEXT,
        );
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end(endedAt);
      } finally {
        next = undefined;
      }
    },
    caused: (name, request, attributes) => {
      const of = { ...attributes, 'bridge.request': request };
      const { CONSUMER } = api.SpanKind;
      if (request === NO_REQUEST) return start(name, CONSUMER, of);
      return start(name, CONSUMER, of, { ...idsOf(request), traceFlags: SAMPLED, isRemote: true });
    },
    stop: () => provider.shutdown(),
  };
}

/** Every process derives the same ids from a correlation id, so that a mark need not carry more than that. */
function idsOf(request: string): { traceId: string; spanId: string } {
  const digest = createHash('sha256').update(request).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

/** W3C Trace Context, version 00; anything else is nobody's trace. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? '') ?? [];
  if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags ?? '0', 16), isRemote: true };
}

function resourceOf(service: string) {
  const attributes = { 'service.name': service };
  const resource = {
    attributes,
    getRawAttributes: (): [string, string][] => Object.entries(attributes),
    merge: () => resource,
  };
  return resource as never;
}
