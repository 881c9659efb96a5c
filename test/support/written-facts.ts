// Converts the recorded writes of the sandbox to facts: object and attribute with old and new value.
import type { PlatformCallLine, PlatformView } from './platform-view.ts';

/** `<kind> <name> <value>` → old and new value. */
export type Facts = Map<string, { before: unknown; after: unknown }>;

const EXTENSION = 'urn:cube:params:1.0:UserAttribute';

type State = Awaited<ReturnType<PlatformView['state']>>;

/** Returns the writes from now on; a write that does not change a value is left out. */
export async function createWrittenFacts(platform: PlatformView): Promise<{ facts(): Promise<Facts> }> {
  const before = await platform.state();
  await platform.forgetRequests();
  return {
    facts: async () => {
      const after = await platform.state();
      const writes = (await platform.writes()).filter(({ status }) => status < 300);
      const facts: Facts = new Map();
      for (const write of writes)
        for (const [key, value] of written(write, [after, before])) {
          const known = facts.get(key);
          facts.set(key, {
            before: known ? known.before : valueIn(renamed(before, after), key),
            after: value ?? null,
          });
        }
      for (const [key, { before: old, after: now }] of facts)
        if (JSON.stringify(old) === JSON.stringify(now)) facts.delete(key);
      return withoutMembersOfDeleted(facts);
    },
  };
}

/** Deleting a group also removes its members. */
function withoutMembersOfDeleted(facts: Facts): Facts {
  for (const [key, { after }] of facts)
    if (after === null && key.split(' ').length === 2)
      for (const other of facts.keys()) if (other.startsWith(`${key} `)) facts.delete(other);
  return facts;
}

function* written({ method, path, body }: PlatformCallLine, states: State[]): Generator<[string, unknown]> {
  const [, collection, id] =
    /\/(Users|Groups|user-attributes|user-attribute-values)(?:\/([^/?]+))?/.exec(path) ?? [];
  if (collection === undefined) throw new Error(`an unexpected write: ${method} ${path}`);
  const users = states.flatMap(({ users: all }) => all);
  const groups = states.flatMap(({ groups: all }) => all);
  const nameOfUser = (scimId: unknown): string =>
    lower(users.find((user) => user.scimId === String(scimId))?.userName);
  if (collection === 'user-attributes') return yield [`Attribute ${body.name}`, body.type];
  if (collection === 'user-attribute-values') {
    const user = users.find((each) => String(each.id) === String(body.userId));
    const definition = states[0]?.attributeDefinitions.find(
      (each: { id: unknown }) => String(each.id) === String(body.userAttributeId),
    );
    return yield [`User ${lower(user?.userName)} attributes.${definition?.name}`, body.value];
  }
  if (collection === 'Users') {
    const subject = `User ${id === undefined ? lower(body.userName) : nameOfUser(id)}`;
    if (method === 'DELETE') return yield [subject, null];
    if (method === 'POST') return yield* valuesOf(subject, body);
    for (const { path: at, value, op } of body.Operations)
      yield* valuesOf(subject, at === undefined ? value : { [at]: op === 'remove' ? null : value });
    return;
  }
  const known = groups.filter(({ scimId }) => scimId === id);
  const subject = `Group ${lower(known[0]?.displayName ?? body?.displayName)}`;
  if (method === 'DELETE') return yield [subject, null];
  if (method === 'POST') return yield [`${subject} displayName`, body.displayName];
  for (const { op, path: at, value } of body.Operations) {
    if (at === 'displayName') yield [`${subject} displayName`, value];
    else if (op === 'add')
      for (const each of value) yield [`${subject} member ${nameOfUser(each.value)}`, true];
    else yield [`${subject} member ${nameOfUser(/"([^"]+)"/.exec(at)?.[1])}`, false];
  }
}

const lower = (name: unknown): string => String(name).toLowerCase();

function* valuesOf(subject: string, values: Record<string, any>): Generator<[string, unknown]> {
  for (const [path, value] of Object.entries(values)) {
    if (path === 'schemas') continue;
    if (path === EXTENSION)
      for (const [name, each] of Object.entries(value)) yield [`${subject} attributes.${name}`, each];
    else if (path.startsWith(`${EXTENSION}:`))
      yield [`${subject} attributes.${path.slice(`${EXTENSION}:`.length)}`, value];
    else if (path === 'emails') yield [`${subject} emails`, value?.[0]?.value ?? null];
    else if (path === 'name')
      for (const [part, each] of Object.entries(value)) yield [`${subject} name.${part}`, each];
    else yield [`${subject} ${path}`, value];
  }
}

/** Returns the earlier state with the later names of its groups, so that the facts of both states have the same keys. */
const renamed = (before: State, after: State): State & { namesBefore: Map<string, string> } => ({
  ...before,
  namesBefore: new Map(before.groups.map(({ scimId, displayName }) => [scimId, displayName])),
  groups: before.groups.map((group) => ({
    ...group,
    displayName: after.groups.find(({ scimId }) => scimId === group.scimId)?.displayName ?? group.displayName,
  })),
});

/** Returns the value before any write. */
function valueIn({ users, groups, namesBefore }: ReturnType<typeof renamed>, key: string): unknown {
  const user = users.find(
    ({ userName }) => key === `User ${lower(userName)}` || key.startsWith(`User ${lower(userName)} `),
  );
  if (user) {
    const path = key.slice(`User ${user.userName} `.length);
    if (path === '') return 'exists';
    if (path.startsWith('attributes.')) return user.attributes[path.slice('attributes.'.length)] ?? null;
    const all = user as unknown as Record<string, any>;
    const part = path.slice('name.'.length);
    if (path.startsWith('name.')) return all.name?.[part] ?? all[part] ?? null;
    if (path === 'emails') return all.emails?.[0]?.value ?? all.email ?? null;
    return all[path] ?? null;
  }
  const group = groups.find(
    ({ displayName }) =>
      key === `Group ${lower(displayName)}` || key.startsWith(`Group ${lower(displayName)} `),
  );
  if (!group) return key.includes(' member ') ? false : null;
  const path = key.slice(`Group ${group.displayName}`.length).trim();
  if (path === '') return 'exists';
  if (path === 'displayName') return namesBefore.get(group.scimId);
  return group.members.some((member) => lower(member) === path.slice('member '.length));
}
