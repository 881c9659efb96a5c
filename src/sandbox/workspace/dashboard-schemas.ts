// Defines JSON Schemas of the dashboard records, as in the specification (contract 4.8). They validate requests
// and are part of the OpenAPI document.

import {
  each,
  integer,
  listSchema,
  oneOfWords,
  orNull as orNullSchema,
  record,
  ref,
  textSchema as text,
  type SpecSchema,
} from '../spec/parts.ts';

/** Returns the schema of a JSON type or null; `orNullSchema` takes a schema instead. */
const orNull = (type: string, more: SpecSchema = {}): SpecSchema => ({ type: [type, 'null'], ...more });
const refOrNull = (name: string): SpecSchema => orNullSchema(ref(name));
const listOrNull = (items: SpecSchema): SpecSchema => orNull('array', { items });
const openObject = orNull('object');
const textMap = orNull('object', { additionalProperties: text });

/** Returns properties with the same schema for each of the five widths of a layout. */
const atWidths = (schema: SpecSchema): SpecSchema => each(schema, 'lg', 'md', 'sm', 'xs', 'xxs');

const WIDGET_TYPES = 'CHART TEXT FILTER AI TIME_GRAIN FIELD PARENT SPACER DIVIDER CONTAINER'.split(' ');

const CONFIG = {
  DashboardConfig: record([], {
    kind: orNull('string', { enum: ['CLASSIC', 'APP', null] }),
    title: orNull('string'),
    description: orNull('string'),
    app: refOrNull('DashboardAppSource'),
    layout: refOrNull('DashboardLayout'),
    settings: openObject,
    theme: openObject,
    widgets: listOrNull(ref('DashboardWidget')),
  }),
  DashboardAppSource: record([], {
    entry: orNull('string', { maxLength: 255 }),
    files: textMap,
    html: orNull('string'),
    manifest: refOrNull('DashboardAppManifest'),
  }),
  DashboardAppManifest: record([], { dependencies: textMap, version: orNull('integer') }),
  DashboardLayout: record([], {
    breakpoints: orNull('object', { properties: atWidths(orNull('integer')) }),
    cols: orNull('object', { properties: atWidths(orNull('integer')) }),
    containerPadding: listOrNull(integer),
    margin: listOrNull(integer),
    rowHeight: orNull('integer'),
  }),
  DashboardWidget: record(['id', 'type', 'position'], {
    id: text,
    type: oneOfWords(...WIDGET_TYPES),
    position: ref('WidgetPosition'),
    config: openObject,
    style: openObject,
    responsiveLayouts: orNull('object', { properties: atWidths(refOrNull('WidgetPosition')) }),
  }),
  WidgetPosition: record(['x', 'y', 'w', 'h'], { x: integer, y: integer, w: integer, h: integer }),
};

const SNAPSHOT = {
  ReportSnapshot: record(['id', 'reportId', 'versionNumber'], {
    ...each(integer, 'id', 'reportId', 'versionNumber'),
    ...each(orNull('string'), 'name', 'title', 'description', 'pythonCode', 'sqlQuery'),
    kind: orNull('string', { enum: ['vega', 'table', 'kpi', 'html', 'map', 'sankey', null] }),
    isSourceReport: orNull('boolean'),
    meta: openObject,
    spec: { type: ['string', 'object', 'null'] },
    fillMissingRows: orNull('object', {
      required: ['member'],
      properties: { member: text, excludedDimensions: listOrNull(text) },
    }),
    periodComparisons: listOrNull(ref('PeriodComparison')),
    preferences: orNull('object', {
      properties: {
        columnFormats: orNull('object', { additionalProperties: ref('ColumnFormatOverride') }),
      },
    }),
  }),
  PeriodComparison: record(['measure', 'timeDimension', 'offset'], {
    measure: text,
    timeDimension: text,
    offset: record(['amount', 'unit'], { amount: integer, unit: text }),
    outputs: listOrNull(text),
  }),
  ColumnFormatOverride: record(['type'], {
    type: oneOfWords('currency', 'percent', 'number'),
    decimalPlaces: orNull('integer'),
  }),
};

const DASHBOARD_REQUIRED =
  'id deploymentId workbookId versionNumber versionId publicId status allowEmbed config reportSnapshots'.split(
    ' ',
  );

/** By name under `components.schemas` of the OpenAPI document. */
export const DASHBOARD_SCHEMAS: Readonly<Record<string, SpecSchema>> = {
  ...CONFIG,
  ...SNAPSHOT,
  Dashboard: record(DASHBOARD_REQUIRED, {
    ...each(integer, 'id', 'deploymentId', 'workbookId', 'versionNumber', 'versionId'),
    publicId: text,
    status: oneOfWords('draft', 'published', 'archived'),
    allowEmbed: { type: 'boolean' },
    config: ref('DashboardConfig'),
    reportSnapshots: listSchema(ref('ReportSnapshot')),
    createdBy: orNull('integer'),
    title: orNull('string'),
    description: orNull('string'),
    ...each(orNull('boolean'), 'fromSharedWorkspace', 'restrictDataDownload', 'useBoardDashboards'),
  }),
};
