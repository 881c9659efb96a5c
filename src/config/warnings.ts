// Settings that are valid and deserve a second look.
import type { Config } from './schema.ts';

export interface ConfigWarning {
  path: string;
  message: string;
  /** Advice for the operator. */
  advice: string;
}

export function configWarnings({
  connections,
  targets,
}: Pick<Config, 'connections' | 'targets'>): ConfigWarning[] {
  return Object.keys(targets).flatMap((target) => {
    const feeding = Object.values(connections).filter((connection) => connection.targets.includes(target));
    if (feeding.length < 2) return [];
    const names = feeding.map(({ name }) => name).join(', ');
    return [
      {
        path: `/targets/${target}`,
        message: `several connections feed ${target}: ${names}`,
        advice:
          'Keep their people and groups apart: an account or group belongs to the connection that is linked to it first, for the other one it is a dead letter (TakenByConnection).',
      },
    ];
  });
}
