// Which test files start first: those that take long, so that none of them is left running alone at the end. What jest
// does by itself, the slowest of the last run first, a fresh checkout can not.
const { default: Sequencer } = require('@jest/test-sequencer');

/** Mostly they wait: for leases that end, sentinels that vote, processes that start. */
const LONG = [
  'e2e/reconcile-commands',
  'e2e/rolling-restart',
  'e2e/alert-causes',
  'contract/redis/sentinel',
  'contract/queue/convergence',
  'e2e/chaos',
  'e2e/demo',
  'e2e/least-writes',
  'contract/redis/cluster-failover',
  'e2e/late-lists',
  'e2e/guard-commands',
  'e2e/stop',
  'unit/helm/alerts',
  'e2e/backup',
  'e2e/mass-removal-held',
  'e2e/replicas',
  'e2e/shared-breaker',
  'contract/tokens/rotation',
  'e2e/last-administrator',
  'e2e/image',
  'e2e/lost-write',
];

module.exports = class LongFilesFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const found = LONG.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
      return found < 0 ? LONG.length : found;
    };
    // Jest's own order stays within the rest.
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
};
