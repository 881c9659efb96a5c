// Creates OpenTelemetry traces from push to platform call. Without a configured collector no tracing package is loaded.
import { createHash } from 'node:crypto';
import type { SpanContext, SpanKind, Tracer } from '@opentelemetry/api';

/** One open span. */
export interface Step {
  /** W3C trace context of the span, to send with an outgoing request. */
  traceparent: string;
  /** Opens a child span for an outgoing call. */
  call: (name: string, attributes: Attributes) => Step;
  /** Ends the span. @param failed name of the error, when the work failed */
  end: (failed?: string, attributes?: Attributes) => void;
}

type Attributes = Record<string, string | number>;

export interface Tracing {
  /** Records a finished request under its correlation id. Times are Unix milliseconds. */
  answered: (
    name: string,
    details: {
      request: string;
      startedAt: number;
      endedAt: number;
      failed: boolean;
      /** `traceparent` that the client sent, not validated. */
      caller?: string | undefined;
      attributes: Attributes;
    },
  ) => void;
  /** Opens a span for work that a request caused, possibly later and in another process. `request` is the correlation id. */
  caused: (name: string, request: string, attributes: Attributes) => Step;
  /** Sends the spans that have not been sent. */
  stop: () => Promise<void>;
}

const SAMPLED = 1;
/** Correlation id of marks that no request caused. */
const NO_REQUEST = '-';

/**
 * Starts tracing. Returns undefined unless OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, and
 * when OTEL_SDK_DISABLED is true or OTEL_TRACES_EXPORTER is none.
 */
export async function openTracing(env: NodeJS.ProcessEnv): Promise<Tracing | undefined> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const [api, sdk, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const random = new sdk.RandomIdGenerator();
  /** Ids for the span that `answered` starts. They are set only during the synchronous start of that span. */
  let nextIds: { traceId: string; spanId: string } | undefined;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new sdk.NodeTracerProvider({
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url }))],
    resource: resourceOf(env.OTEL_SERVICE_NAME ?? 'scim-bridge'),
    idGenerator: {
      generateTraceId: () => nextIds?.traceId ?? random.generateTraceId(),
      generateSpanId: () => nextIds?.spanId ?? random.generateSpanId(),
    },
  });
  const tracer: Tracer = provider.getTracer('scim-bridge');
  const { ROOT_CONTEXT, trace, SpanStatusCode } = api;

  function start(name: string, kind: SpanKind, attributes: Attributes, parent?: SpanContext): Step {
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const span = tracer.startSpan(name, { kind, attributes }, context);
    const spanContext = span.spanContext();
    return {
      // Version 00 of the W3C format: version, trace id, span id, flags.
      traceparent: `00-${spanContext.traceId}-${spanContext.spanId}-0${spanContext.traceFlags & SAMPLED}`,
      call: (called, more) => start(called, api.SpanKind.CLIENT, more, spanContext),
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
      nextIds = idsOf(request);
      try {
        // Clients are not trusted, so their trace is only linked and does not become the parent.
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
        nextIds = undefined;
      }
    },
    caused: (name, request, attributes) => {
      const allAttributes = { ...attributes, 'bridge.request': request };
      const { CONSUMER } = api.SpanKind;
      if (request === NO_REQUEST) return start(name, CONSUMER, allAttributes);
      return start(name, CONSUMER, allAttributes, { ...idsOf(request), traceFlags: SAMPLED, isRemote: true });
    },
    stop: () => provider.shutdown(),
  };
}

/**
 * Derives trace and span id from the correlation id. Every process derives the same ids, so a mark carries the
 * correlation id only.
 */
function idsOf(request: string): { traceId: string; spanId: string } {
  const digest = createHash('sha256').update(request).digest('hex');
  // A trace id has 32 hexadecimal digits, a span id 16.
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

/** Parses W3C Trace Context version 00; returns undefined for any other text. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? '') ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
}

/**
 * Returns the resource of the spans: the name of the service only. It is a minimal form of `Resource` of
 * @opentelemetry/resources, which is not a direct dependency.
 */
function resourceOf(service: string) {
  const attributes = { 'service.name': service };
  const resource = {
    attributes,
    getRawAttributes: (): [string, string][] => Object.entries(attributes),
    merge: () => resource,
  };
  return resource as never;
}
