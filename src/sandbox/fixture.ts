// Defines the type of the functions that create fixtures of one kind (`POST /fixtures`), and reads properties that several kinds
// have.
import { own, type SandboxJsonObject } from './json.ts';
import { SandboxProblem } from './problem.ts';
import type { UserRecord } from './records.ts';
import type { Secrets } from './secrets.ts';
import type { CurrentState } from './state.ts';

/** Creates one fixture and returns it with its ids and secrets; throws SandboxProblem 400, 409. */
export type MakeFixture = (
  current: CurrentState,
  source: SandboxJsonObject,
  secrets: Secrets,
) => SandboxJsonObject;

/** Returns the user that the property `name` identifies by userName or platform id. @throws 400 when unknown */
export function requireOwner(current: CurrentState, source: SandboxJsonObject, name = 'owner'): UserRecord {
  const named = own(source, name);
  const { users } = current.state;
  const user =
    typeof named === 'number' ? users.get(named) : users.find('userName', String(named).toLowerCase())[0];
  if (!user) throw new SandboxProblem(400, `${name}: no such user: ${String(named)}`);
  return user;
}

/** Returns a time in Unix milliseconds, which may be sent as text too; null when the property is absent. @throws 400 */
export function readTime(source: SandboxJsonObject, name: string): number | null {
  const value = own(source, name) ?? null;
  if (value === null) return null;
  const ms = typeof value === 'number' || typeof value === 'string' ? new Date(value).getTime() : Number.NaN;
  if (Number.isNaN(ms)) throw new SandboxProblem(400, `${name} must be a date`);
  return ms;
}
