// Writes docs/metrics.md (`npm run metrics-page`) from the definitions of the metrics.
import { writeFileSync } from 'node:fs';
import process from 'node:process';

const PAGE = 'docs/metrics.md';
const INTRODUCTION = `# Metrics

Written by \`npm run metrics-page\` from \`src/support/metrics.ts\`. Where a process serves them, and for whom: [deploy](deploy.md#metrics). Which alert they raise: [alerts](alerts.md). The rules and the dashboard of the chart use them. A histogram has the series \`_bucket\`, \`_sum\` and \`_count\`. Beside these metrics there are \`process_\` and \`nodejs_\` metrics of the process, as prom-client has them.
`;

const code = (text) => `\`${text}\``;

function item({ name, type, labels, help, buckets }, shared) {
  const about = [type, ...(labels.length > 0 ? [`labels ${labels.map(code).join(', ')}`] : [])].join(', ');
  const bounds = buckets ? ` Buckets: ${buckets.join(', ')}.` : '';
  return `- ${code(name)} (${about}): ${help.replace(shared, '').trim()}${bounds}`;
}

/**
 * Returns the page as Markdown.
 * @param definitions all metrics
 * @param shared sentence in the help of metrics that are the same from every process
 */
export function metricsPage(definitions, shared) {
  const sorted = Object.values(definitions).sort((a, b) => (a.name < b.name ? -1 : 1));
  const list = (isShared) =>
    sorted
      .filter(({ help }) => help.includes(shared) === isShared)
      .map((definition) => item(definition, shared))
      .join('\n');
  return [
    INTRODUCTION,
    '## Of each process\n',
    `Each process counts what it did itself: take sum() or max() over the processes.\n\n${list(false)}\n`,
    '## Of the whole bridge\n',
    `Read from Redis at the scrape. ${shared}\n\n${list(true)}\n`,
  ].join('\n');
}

if (process.argv[1]?.endsWith('metrics-page.mjs')) {
  const { METRICS, SHARED_HELP } = await import('../dist/support/metrics.js');
  writeFileSync(PAGE, metricsPage(METRICS, SHARED_HELP));
}
