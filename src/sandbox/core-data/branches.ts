// Finds the branch of a request by name, or the production branch without a name.
import type { Deployment } from '../records.ts';
import { Problem } from '../problem.ts';

/** Returns the branch's name; throws Problem 404 when the deployment has no such branch. */
export function requireBranch(deployment: Deployment, branchName: string | null): string {
  const found = deployment.branches.find((branch) =>
    branchName === null ? branch.kind === 'production' : branch.name === branchName,
  );
  // A deployment without a production branch uses the data of its first branch.
  const branch = found ?? (branchName === null ? deployment.branches[0] : undefined);
  if (!branch) throw new Problem(404, 'Branch not found');
  return branch.name;
}
