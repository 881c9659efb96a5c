// Creates the control-plane part of the seed `small`: channels with versions and two deployments (docs/sandbox.md).
import type { Secrets } from '../secrets.ts';
import type { CurrentState } from '../state.ts';
import { createDeployment } from './deployments.ts';
import { publish } from './releases.ts';

const DAY_MS = 86_400_000;

/** Newest first. An older version that was never run is published, but not listed by the tenant (contract 4.5). */
const RELEASES = [
  { channel: 'latest', version: '1.7.22', wasRun: true },
  { channel: 'latest', version: '1.7.21', wasRun: true },
  { channel: 'latest', version: '1.7.20', wasRun: true },
  { channel: 'latest', version: '1.7.19', wasRun: false },
  // createDeployment (`ops`, below) sets `wasRun`.
  { channel: 'release', version: '1.6.48', wasRun: false },
  { channel: 'release', version: '1.6.47', wasRun: true },
  { channel: 'release', version: '1.6.46', wasRun: false },
];

/** Adds releases and deployments to a state that has its users already. */
export function plantControlPlane(current: CurrentState, secrets: Secrets): void {
  for (const { wasRun, ...version } of RELEASES) publish(current.state, version, wasRun);
  // The newest sample row is 30 days younger than its deployment (core-data/stores.ts), so it is of today.
  const createdAtMs = current.nowMs - 30 * DAY_MS;
  const main = { name: 'main', kind: 'production', owner: null } as const;
  createDeployment(current, {
    name: 'sales',
    apiSecret: secrets.named('deployment 1'),
    tokenAuthentication: true,
    createdAtMs,
    branches: [
      main,
      { name: 'feature-a', kind: 'shared', owner: null },
      { name: 'dev-admin', kind: 'personal', owner: 'admin@acme.example' },
    ],
  });
  createDeployment(current, {
    name: 'ops',
    apiSecret: secrets.named('deployment 2'),
    createdAtMs,
    branches: [main],
    release: { channel: 'release', version: '1.6.48', isHeld: false },
  });
}
