// Starts the longest test files first, so that none of them is left running alone at the end. Jest starts the slowest
// files of the last run first; a fresh checkout has no last run.
const { default: Sequencer } = require('@jest/test-sequencer');

/** Files of more than half a minute, the longest first. Most of these tests wait: for leases to expire, processes to start. */
const LONG = [
  'e2e/chaos-replicas',
  'e2e/rolling-settings',
  'e2e/commands-end',
  'e2e/chaos',
  'e2e/situations',
  'e2e/decisions',
  'hostile/bodies',
  'unit/helm/alerts',
  'e2e/rejected-closings',
  'e2e/first-load',
  'e2e/half-answers',
  'e2e/restore-while-running',
  'e2e/rolling-restart',
  'e2e/lost-creates',
  'e2e/large-looks-at-groups',
  'hostile/groups',
  'e2e/taken-by-connection-advice',
  'contract/admin/page-live',
  'contract/admin/page-answers',
  'e2e/reconcile-commands',
  'unit/helm/value-sets',
  'contract/admin/live',
  'e2e/removed-target',
  'hostile/platform',
  'hostile/lists',
  'e2e/protected-memberships',
  'e2e/stop',
  'contract/site/access',
  'e2e/names-handed-on-late',
  'e2e/closed-pipe',
  'e2e/left-without-link',
  'e2e/nobody-missing',
  'e2e/unlisted-values',
  'e2e/older-redis',
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
