// Hides the values of properties with secret names, as the platform does in its audit log (contract 4.6).
import { isJsonObject } from './json.ts';

/** Names that contain one of these words belong to secrets. */
export const SECRET_WORDS = /PASS|SECRET|TOKEN|KEY|CREDENTIAL/i;

/** Returns the JSON value with `[HIDDEN]` as the value of every property with a secret name, at any depth. */
export function hideSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRET_WORDS.test(name) ? '[HIDDEN]' : hideSecrets(member),
    ]),
  );
}
