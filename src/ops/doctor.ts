// Checks Redis, clocks, settings and targets, and returns findings with advice. It changes nothing.
import { okFinding, warningFinding, type DoctorFinding } from './doctor-finding.ts';
import { checkTarget, type DoctorTarget, type TargetCheckOptions } from './check-target.ts';
import { checkRedis, type RedisToCheck } from './check-redis.ts';

export interface DoctorSubject extends RedisToCheck, TargetCheckOptions {
  /** Findings of the last proof of derived data; empty if another proof follows in this command. */
  data: () => Promise<DoctorFinding[]>;
  targets: DoctorTarget[];
  /** Warnings about settings that are allowed and risky. */
  warnings: readonly { message: string; advice: string }[];
}

/** Runs all checks and returns their findings, those about the settings first. */
export async function doctor(subject: DoctorSubject): Promise<DoctorFinding[]> {
  const parts = await Promise.all([
    checkRedis(subject),
    subject.data(),
    ...subject.targets.map((target) => checkTarget(target, subject)),
  ]);
  return [...configFindings(subject), ...parts.flat()];
}

function configFindings({ targets, warnings }: DoctorSubject): DoctorFinding[] {
  const unmapped = targets.filter(({ types }) => Object.keys(types).length === 0);
  return [
    okFinding('config', 'the settings are valid'),
    ...warnings.map(({ message, advice }) => warningFinding('config', message, advice)),
    ...unmapped.map(({ name }) =>
      warningFinding(
        'config',
        `no attribute is mapped for ${name}`,
        `If rows depend on attributes, add targets.${name}.attributes.`,
      ),
    ),
  ];
}
