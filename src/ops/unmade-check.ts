// Converts a failed check of doctor to a finding that names the check, so that doctor still lists it.
import { isStoreFailure, whyAway } from '../directory/redis/why-away.ts';
import type { DoctorFinding } from './doctor-finding.ts';

/** Returns the findings of a check, or one finding with the reason if the check fails. */
export async function orUnmade(
  area: string,
  check: () => Promise<DoctorFinding[]>,
): Promise<DoctorFinding[]> {
  try {
    return await check();
  } catch (error) {
    return [{ area, level: 'error', ...whyUnmade(error) }];
  }
}

function whyUnmade(error: unknown): Pick<DoctorFinding, 'message' | 'advice'> {
  if (!isStoreFailure(error)) {
    const { message } = error as Error;
    return { message: `not checked: ${message.replace(/\.$/, '')}`, advice: 'Repeat the check.' };
  }
  const cause = (error as { previousErrors?: Error[] }).previousErrors?.[0] ?? error;
  return {
    message: `not checked: Redis does not answer, or takes no writes (${whyAway(cause)})`,
    advice:
      'Repeat the check when Redis answers and takes writes. If it is a replica, point redis.url at the primary.',
  };
}
