// Starts the longest test files first, so that none of them is left running alone at the end. Jest starts the slowest
// files of the last run first; a fresh checkout has no last run.
const { default: Sequencer } = require('@jest/test-sequencer');

/** Most of these tests wait: for leases to expire, sentinels to vote, processes to start. */
const LONG = [
  'e2e/rolling-restart',
  'e2e/reconcile-commands',
  'e2e/chaos',
  'contract/redis/sentinel',
  'contract/queue/convergence',
  'contract/admin/page',
  'e2e/alert-causes',
  'e2e/demo',
  'e2e/guard-commands',
  'e2e/mass-removal-held',
  'contract/hostile/size',
  'contract/redis/cluster-failover',
  'contract/events/delivery',
  'e2e/late-lists',
  'e2e/least-writes',
  'e2e/reconcile',
  'e2e/not-the-platform',
  'e2e/stop',
  'e2e/shared-breaker',
  'contract/sandbox/chat-load',
  'contract/hostile/pollution',
  'contract/scim-conformance/suite-python',
  'contract/scim-conformance/writers',
  'unit/helm/alerts',
  'unit/helm/objects',
  'contract/redis/cluster',
  'contract/tokens/rotation',
  'e2e/order-of-starts',
  'e2e/careful',
  'e2e/backup',
  'contract/admin/operations',
  'e2e/replicas',
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
    // Other files keep the order that jest gives them.
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
};
