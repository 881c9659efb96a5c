// Lists the pages of the documentation site by section, in their order. A label replaces the heading of a page in the
// navigation where the heading is long.

/** Sections of the site; each page is a path, or a path and its label. */
export const SECTIONS = [
  {
    title: 'Start',
    pages: [
      ['docs/README.md', 'Start here'],
      'docs/examples/README.md',
      ['docs/guarantees.md', 'Guarantees'],
      'docs/glossary.md',
    ],
  },
  {
    title: 'Concepts',
    pages: [
      'docs/architecture.md',
      'docs/one-push.md',
      'docs/extend.md',
      ['docs/convergence.md', 'Convergence'],
      ['docs/proof.md', 'Derived data'],
      'docs/approvals.md',
      'docs/exceptions.md',
      'docs/handover.md',
      'docs/limits.md',
      'docs/security.md',
      'docs/security-outside.md',
      'docs/security-inside.md',
      ['docs/security-review.md', 'Security review'],
      ['SECURITY.md', 'Report a vulnerability'],
      ['docs/privacy.md', 'Privacy'],
    ],
  },
  {
    title: 'Guides',
    pages: [
      'docs/idp/okta.md',
      ['docs/idp/entra.md', 'Entra'],
      ['docs/idp/others.md', 'Other providers'],
      'docs/idp/custom-schemas.md',
      'docs/deploy.md',
      ['helm/scim-bridge/README.md', 'Kubernetes'],
      ['docs/redis.md', 'Redis'],
      ['docs/sizing.md', 'Sizing'],
      ['docs/day-two.md', 'Day two'],
      ['docs/rotation.md', 'Secrets'],
      ['docs/admin.md', "Operators' page"],
      ['docs/sign-in.md', 'Sign-in of operators'],
      ['docs/notices.md', 'Notices'],
    ],
  },
  {
    title: 'Reference',
    pages: [
      'docs/settings.md',
      'docs/settings-reference.md',
      'docs/commands.md',
      ['docs/api.md', 'Admin API'],
      'docs/admin-api.md',
      'docs/metrics.md',
      ['docs/events.md', 'Security events'],
      'docs/platform-client.md',
      ['docs/sandbox.md', 'Sandbox'],
      ['docs/sandbox-data.md', 'Data of the sandbox'],
      'docs/versions.md',
      ['CHANGELOG.md', 'Changelog'],
    ],
  },
  {
    title: 'Runbook',
    pages: [
      'docs/runbook.md',
      'docs/alerts.md',
      'docs/dead-letters.md',
      ['docs/people.md', 'One person'],
      ['docs/drift.md', 'Drift'],
      'docs/restore.md',
      'docs/situations.md',
      ['docs/recovery.md', 'Crashes and lost keys'],
    ],
  },
  {
    title: 'Platform contract',
    pages: [
      ['docs/platform-contract.md', 'Overview'],
      'docs/platform-contract/access.md',
      'docs/platform-contract/scim.md',
      'docs/platform-contract/users.md',
      'docs/platform-contract/control-plane.md',
      'docs/platform-contract/core-data.md',
      'docs/platform-contract/chat.md',
      ['docs/platform-contract/workspace.md', 'Workspace'],
      'docs/platform-contract/errors-and-limits.md',
      ['docs/platform-contract/disagreements.md', '11 Disagreements'],
      'docs/platform-contract/provisioning.md',
      'docs/platform-contract/decisions-identity.md',
      'docs/platform-contract/decisions-control-plane.md',
      'docs/platform-contract/decisions-data-and-chat.md',
      ['docs/platform-coverage.md', 'Coverage'],
    ],
  },
  { title: 'Decisions', pages: ['docs/adr/README.md'], folder: 'docs/adr' },
];

/** Pages that links lead to in place of another file: the start page has what the file says. */
export const INSTEAD = { 'README.md': 'docs/README.md' };
