// Defines JSON Schemas of the dashboard records, as in the specification (contract 4.8). They validate requests
// and are part of the OpenAPI document.

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const integer = { type: 'integer' };
const orNull = (type: string, more: Schema = {}): Schema => ({ type: [type, 'null'], ...more });
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const refOrNull = (name: string): Schema => ({ anyOf: [ref(name), { type: 'null' }] });
const listOrNull = (items: Schema): Schema => orNull('array', { items });
const record = (required: readonly string[], properties: Schema): Schema => ({
  type: 'object',
  required,
  properties,
});
const openObject = orNull('object');
const textMap = orNull('object', { additionalProperties: text });

/** Returns properties with the same schema for each of the five widths of a layout. */
const atWidths = (schema: Schema): Schema =>
  Object.fromEntries(['lg', 'md', 'sm', 'xs', 'xxs'].map((width) => [width, schema]));

const WIDGET_TYPES = [
  'CHART',
  'TEXT',
  'FILTER',
  'AI',
  'TIME_GRAIN',
  'FIELD',
  'PARENT',
  'SPACER',
  'DIVIDER',
  'CONTAINER',
];

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
    type: { type: 'string', enum: WIDGET_TYPES },
    position: ref('WidgetPosition'),
    config: openObject,
    style: openObject,
    responsiveLayouts: orNull('object', { properties: atWidths(refOrNull('WidgetPosition')) }),
  }),
  WidgetPosition: record(['x', 'y', 'w', 'h'], { x: integer, y: integer, w: integer, h: integer }),
};

const SNAPSHOT = {
  ReportSnapshot: record(['id', 'reportId', 'versionNumber'], {
    id: integer,
    reportId: integer,
    versionNumber: integer,
    name: orNull('string'),
    title: orNull('string'),
    description: orNull('string'),
    pythonCode: orNull('string'),
    sqlQuery: orNull('string'),
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
    type: { type: 'string', enum: ['currency', 'percent', 'number'] },
    decimalPlaces: orNull('integer'),
  }),
};

const DASHBOARD_REQUIRED = [
  'id',
  'deploymentId',
  'workbookId',
  'versionNumber',
  'versionId',
  'publicId',
  'status',
  'allowEmbed',
  'config',
  'reportSnapshots',
];

/** By name under `components.schemas` of the OpenAPI document. */
export const DASHBOARD_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...CONFIG,
  ...SNAPSHOT,
  Dashboard: record(DASHBOARD_REQUIRED, {
    id: integer,
    deploymentId: integer,
    workbookId: integer,
    versionNumber: integer,
    versionId: integer,
    publicId: text,
    status: { type: 'string', enum: ['draft', 'published', 'archived'] },
    allowEmbed: { type: 'boolean' },
    config: ref('DashboardConfig'),
    reportSnapshots: { type: 'array', items: ref('ReportSnapshot') },
    createdBy: orNull('integer'),
    title: orNull('string'),
    description: orNull('string'),
    fromSharedWorkspace: orNull('boolean'),
    restrictDataDownload: orNull('boolean'),
    useBoardDashboards: orNull('boolean'),
  }),
};
