// Overrides settings by environment variables. No other file reads these variables by their names.
import { isTree, select, setAt, toPath } from './places.ts';
import { settingsSchema } from './schema.ts';

const SECTIONS = Object.keys(settingsSchema.properties ?? {});
const TOKENS = 'connections/default/tokens';
const SCIM_TOKEN_NAME = 'primary';

// Each variable and the setting that it overrides. SCIM_TOKEN is not here: it sets an element of a list, found by its name.
const SETTINGS: Readonly<Record<string, string[]>> = {
  PORT: ['server', 'port'],
  HOST: ['server', 'host'],
  PUBLIC_URL: ['server', 'publicUrl'],
  ADMIN_TOKEN: ['server', 'adminToken'],
  REDIS_URL: ['redis', 'url'],
  LOG_LEVEL: ['logging', 'level'],
  PLATFORM_URL: ['targets', 'main', 'url'],
  PLATFORM_TOKEN: ['targets', 'main', 'token'],
  PLATFORM_ALLOW_LOOPBACK_HTTP: ['targets', 'main', 'allowLoopbackHttp'],
};

/**
 * Overrides settings of the document by environment variables, in place. A document without `targets` gets the target `main`,
 * and a document without `connections` the connection `default`. Returns the name of the variable by path.
 */
export function applyEnvironment(
  document: Record<string, unknown>,
  env: NodeJS.ProcessEnv,
  hasFile: boolean,
): Map<string, string> {
  // YAML reads a section with all lines commented out as null, which counts as missing.
  for (const name of SECTIONS) if (document[name] === null) delete document[name];
  if (!Object.hasOwn(document, 'targets')) document.targets = { main: {} };
  // Without a file SCIM_TOKEN is required: a token without secret makes the schema report it as missing.
  const connection = hasFile ? {} : { tokens: [{ name: SCIM_TOKEN_NAME }] };
  if (!Object.hasOwn(document, 'connections')) document.connections = { default: connection };

  const applied = new Map<string, string>();
  for (const [variable, keys] of Object.entries(SETTINGS)) {
    const text = env[variable];
    // An empty variable counts as unset. Without a target `main` the variables of the platform have no meaning.
    if (!text || (keys[0] === 'targets' && !exists(document, 'targets/main'))) continue;
    if (setAt(document, keys, typed(variable, text))) applied.set(toPath(keys), variable);
  }
  // SCIM_TOKEN needs a token `primary`. It is created only where the connection `default` has no list of tokens.
  if (env.SCIM_TOKEN && isTree(defaultConnection(document)) && select(document, TOKENS).length === 0) {
    setAt(document, TOKENS.split('/'), [{ name: SCIM_TOKEN_NAME }]);
  }
  const token = tokenKeys(document);
  if (env.SCIM_TOKEN && token) {
    setAt(document, token, env.SCIM_TOKEN);
    applied.set(toPath(token), 'SCIM_TOKEN');
  }
  return applied;
}

/** Returns the variable that would set the value at a path, for the advice of a fault; undefined when there is none. */
export function variableFor(document: unknown, path: string): string | undefined {
  const token = tokenKeys(document);
  if (token && toPath(token) === path) return 'SCIM_TOKEN';
  const [variable] = Object.entries(SETTINGS).find(([, keys]) => toPath(keys) === path) ?? [];
  return variable;
}

function exists(document: unknown, pattern: string): boolean {
  return select(document, pattern).some((place) => isTree(place.value));
}

function defaultConnection(document: unknown): unknown {
  return select(document, 'connections/default')[0]?.value;
}

// Returns the keys of the secret that SCIM_TOKEN sets: of the token `primary` of the connection `default`; undefined: none.
function tokenKeys(document: unknown): string[] | undefined {
  const names = select(document, `${TOKENS}/*/name`);
  const primary = names.find((place) => place.value === SCIM_TOKEN_NAME);
  return primary && [...primary.keys.slice(0, -1), 'secret'];
}

// Converts the text of a variable to the type of its setting. Unexpected text stays text, and the schema reports the fault.
function typed(variable: string, text: string): unknown {
  if (variable === 'PORT' && /^\d{1,9}$/.test(text)) return Number(text);
  if (variable === 'PLATFORM_ALLOW_LOOPBACK_HTTP') {
    if (text === '1' || text === 'true') return true;
    if (text === '0' || text === 'false') return false;
  }
  return text;
}
