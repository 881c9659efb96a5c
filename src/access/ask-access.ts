// verify-access for callers that go on afterwards: what can go wrong is an answer too.
import { PlatformError } from '../platform/errors.ts';
import type { AccessReport } from './access-report.ts';
import { UnclearQuestion } from './unclear-question.ts';
import { verifyAccess, type AccessDeps, type AccessQuestion } from './verify-access.ts';

export type AccessAnswer =
  | { kind: 'report'; report: AccessReport }
  /** Nobody is known so. */
  | { kind: 'unknown' }
  /** It means several, or names something that is not there; the message says what to do. */
  | { kind: 'unclear'; message: string }
  /** The platform can not be read. */
  | { kind: 'unread'; message: string };

export async function askAccess(
  deps: AccessDeps,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<AccessAnswer> {
  try {
    const report = await verifyAccess(deps, question, signal);
    return report.person === null ? { kind: 'unknown' } : { kind: 'report', report };
  } catch (error) {
    if (error instanceof UnclearQuestion) return { kind: 'unclear', message: error.message };
    if (error instanceof PlatformError) return { kind: 'unread', message: error.message };
    throw error;
  }
}
