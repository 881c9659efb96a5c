// The arrows of the house: each folder lists the folders it may import, everything else is an error.
// docs/architecture.md draws the same picture.
const may = {
  support: [],
  ui: [],
  scim: ['support'],
  platform: ['support'],
  config: ['support'],
  guard: ['support'],
  directory: ['guard', 'scim', 'support'],
  provider: ['directory', 'scim', 'support'],
  queue: ['directory', 'support'],
  sync: ['platform', 'directory', 'guard', 'scim', 'support'],
  reconcile: ['sync', 'platform', 'directory', 'guard', 'scim', 'support'],
  tokens: ['directory', 'support'],
  events: ['directory', 'support'],
  notices: ['tokens', 'ops', 'directory', 'support'],
  explain: ['sync', 'reconcile', 'ops', 'directory', 'guard', 'scim', 'support'],
  'verify-access': ['explain', 'sync', 'reconcile', 'ops', 'platform', 'directory', 'scim', 'support'],
  ops: ['sync', 'reconcile', 'tokens', 'platform', 'directory', 'guard', 'scim', 'support'],
  http: [
    'provider',
    'tokens',
    'events',
    'notices',
    'explain',
    'verify-access',
    'ops',
    'reconcile',
    'directory',
    'guard',
    'scim',
    'support',
  ],
  cli: ['explain', 'verify-access', 'config', 'tokens', 'ops', 'reconcile', 'support'],
  demo: ['support'],
  sandbox: ['support'],
};
// One library, one home.
const home = {
  express: '^src/(http|sandbox)/',
  ioredis: '^src/(directory|app)/',
  bullmq: '^src/queue/',
  'node-cron': '^src/(config/forms|reconcile/apply/(schedule|expected-gap))[.]ts',
  ajv: '^src/(config|scim|sandbox|http/admin)/',
  pino: '^src/support/logger[.]ts',
  '@duckdb/node-api': '^src/sandbox/core-data/',
  'prom-client': '^src/support/metrics[.]ts',
  '@opentelemetry': '^src/support/tracing[.]ts',
  undici: '^src/(platform|demo)/',
  'csv-parse': '^src/(platform/csv|sandbox/core-data/yaml/sample-tables)[.]ts',
  jsonata: '^src/sync/mapping/expression[.]ts',
  re2js: '^src/support/linear-regexp[.]ts',
  jose: '^src/(verify-access|tokens|events|sandbox)/',
  commander: '^src/cli/',
};
const src = '^src/';
// Doors that single folders have beyond the table.
const doors = {
  cli: [
    `${src}app[.]ts$`,
    `${src}app/(open|parts)[.]ts$`,
    `${src}sandbox/`,
    `${src}demo/`,
    `${src}directory/`,
    `${src}guard/`,
    `${src}platform/`,
    `${src}sync/mapping/(config-checks|rule-trial)[.]ts$`,
  ],
  demo: [`${src}sandbox/`, `${src}platform/library[.]ts$`],
  sandbox: [`${src}platform/wire[.]ts$`],
};
const layers = Object.entries(may).map(([from, to]) => ({
  name: `${from}-imports`,
  severity: 'error',
  comment: `src/${from} may import: ${[from, ...to].join(', ')}`,
  from: { path: `${src}${from}/` },
  to: { path: src, pathNot: [`${src}(${[from, ...to].join('|')})/`, ...(doors[from] ?? [])] },
}));
// The order of the steps of a reconcile: a folder imports none of those behind it.
const steps = ['compare', 'unwritten', 'scan', 'handover', 'plan', 'apply'];
const stepOrder = steps.slice(0, -1).map((step, index) => ({
  name: `reconcile-${step}-comes-first`,
  severity: 'error',
  comment: `src/reconcile/${step} must not import: ${steps.slice(index + 1).join(', ')}`,
  from: { path: `${src}reconcile/${step}/` },
  to: { path: `${src}reconcile/(${steps.slice(index + 1).join('|')})/` },
}));
module.exports = {
  forbidden: [
    ...layers,
    ...stepOrder,
    {
      name: 'sandbox-stands-alone',
      severity: 'error',
      comment: 'only the cli and the demo start the sandbox',
      from: { path: src, pathNot: `${src}(sandbox/|demo/|cli/)` },
      to: { path: `${src}sandbox/` },
    },
    {
      name: 'wire-types-only',
      severity: 'error',
      comment: 'the sandbox borrows wire types, never code',
      from: { path: `${src}sandbox/` },
      to: { path: `${src}platform/`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'app-is-the-top',
      severity: 'error',
      from: { path: src, pathNot: `${src}(app|cli|main)([.]ts|/)` },
      to: { path: `${src}app([.]ts|/)` },
    },
    { name: 'no-cycles', severity: 'error', from: { path: src }, to: { circular: true } },
    {
      name: 'scim-through-its-door',
      severity: 'error',
      comment: 'outside scim/, import scim/index.ts only',
      from: { path: src, pathNot: `${src}scim/` },
      to: { path: `${src}scim/`, pathNot: `${src}scim/index[.]ts$` },
    },
    ...Object.entries(home).map(([lib, path]) => ({
      name: `${lib}-has-one-home`,
      severity: 'error',
      from: { path: src, pathNot: path },
      to: { path: `node_modules/${lib}/` },
    })),
    { name: 'no-tests-in-src', severity: 'error', from: { path: src }, to: { path: '^(test|bench)/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
