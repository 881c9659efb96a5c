// Which branch a request is about: by name, or the production branch when none is named.
import type { Deployment } from '../records.ts';
import { Problem } from '../problem.ts';

/** The branch's name; throws Problem 404 when the deployment has none of that name. */
export function requireBranch(deployment: Deployment, branchName: string | null): string {
  const found = deployment.branches.find((branch) =>
    branchName === null ? branch.kind === 'production' : branch.name === branchName,
  );
  // A deployment made without a production branch still has data: that of its first branch.
  const branch = found ?? (branchName === null ? deployment.branches[0] : undefined);
  if (!branch) throw new Problem(404, 'Branch not found');
  return branch.name;
}
