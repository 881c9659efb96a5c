// Starts the longest test files first, so that none of them is left running alone at the end. Jest starts the slowest
// files of the last run first; a fresh checkout has no last run.
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Files of more than three quarters of a minute, the longest first. Most of these tests wait: for leases to expire, processes to
 * start.
 */
const LONG = [
  'unit/helm/alerts',
  'contract/queue/convergence',
  'hostile/bodies',
  'e2e/decisions',
  'hostile/platform',
  'hostile/lists',
  'e2e/restored-removals',
  'e2e/situations',
  'e2e/rolling-settings',
  'e2e/commands-end',
  'e2e/lost-creates',
  'hostile/groups',
  'e2e/closed-pipe',
  'e2e/chaos-replicas',
  'e2e/rejected-closings',
  'e2e/nobody-missing',
  'e2e/chaos',
  'e2e/half-answers',
  'e2e/first-load',
  'contract/admin/log',
  'e2e/removed-target',
  'e2e/former-owner-of-key',
  'e2e/lost-removals',
  'contract/site/access',
  'contract/admin/page-live',
  'e2e/unlisted-values',
  'e2e/stop',
  'e2e/rolling-restart',
  'e2e/protected-memberships',
  'contract/admin/page-access',
  'contract/admin/page-log',
  'e2e/connection-returns',
  'e2e/restore-while-running',
  'e2e/reconcile-commands',
  'contract/admin/page-answers',
  'e2e/taken-by-connection-advice',
  'contract/lua/large-groups',
  'e2e/large-looks-at-groups',
  'e2e/fleet',
  'e2e/done-by-hand',
  'contract/sandbox/cube-comparison',
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
