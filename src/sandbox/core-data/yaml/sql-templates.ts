// Expands references in the SQL of a model: `{CUBE}`, `{member}`, `{other_cube.member}` and plain columns.
import { quoteName } from '../statement.ts';

/** The part of a cube that SQL templates refer to by `{cube}` and `{cube.member}`: its name, and the SQL of its members. */
export interface TemplateCube {
  readonly name: string;
  /** SQL templates by member name: of a dimension, or of the value of one row that a measure aggregates. */
  readonly members: ReadonlyMap<string, string>;
}

const COLUMN = /^[A-Za-z_]\w*$/;
const REFERENCE = /\{([^{}]*)\}/g;
/** Deepest nesting of references; a deeper one is a member that refers to itself. */
const MAX_DEPTH = 20;

/**
 * Returns the SQL with references replaced by quoted aliases and by the SQL of members.
 * @throws Error with the reason for an unknown or circular reference
 */
export function expandSql(
  template: string,
  cube: TemplateCube,
  cubeOf: (name: string) => TemplateCube | undefined,
  depth = 0,
): string {
  if (depth > MAX_DEPTH) throw new Error('the SQL refers to itself');
  const text = template.trim().replace(/;$/, '');
  if (COLUMN.test(text)) return `${quoteName(cube.name)}.${quoteName(text)}`;
  const memberSql = (owner: TemplateCube, name: string): string => {
    const found = owner.members.get(name);
    if (found === undefined) throw new Error(`{${name}} is neither a cube nor a member of ${owner.name}`);
    // A member of the same name as its column refers to the column.
    if (found.trim() === name) return `${quoteName(owner.name)}.${quoteName(name)}`;
    return `(${expandSql(found, owner, cubeOf, depth + 1)})`;
  };
  return text.replace(REFERENCE, (_all, inside: string) => {
    const [first = '', second, ...rest] = inside.trim().split('.');
    const owner = first === 'CUBE' ? cube : cubeOf(first);
    if (rest.length > 0 || !COLUMN.test(first)) throw new Error(`{${inside}} is not supported`);
    if (owner && second === undefined) return quoteName(owner.name);
    if (owner && second !== undefined) return memberSql(owner, second);
    if (second !== undefined) throw new Error(`{${inside}}: there is no cube ${first}`);
    return memberSql(cube, first);
  });
}

/** Returns the columns of a cube that SQL with its quoted alias names, such as `"orders"."status"`. */
export function columnsIn(sql: string, cube: string): string[] {
  const alias = quoteName(cube).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const found = [...sql.matchAll(new RegExp(`${alias}\\."?([A-Za-z_]\\w*)"?`, 'g'))];
  return [...new Set(found.map(([, column]) => column ?? ''))];
}
