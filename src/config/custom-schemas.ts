// Checks what JSON Schema cannot express about custom schemas.
import { isDeepStrictEqual } from 'node:util';
import type { ConfigFault } from './faults.ts';
import { isTree, select, type Place } from './places.ts';
import type { CustomSchemaConfig } from './schema/custom-schema.ts';

const SCHEMAS = 'connections/*/schemas/*';
/** URNs of built-in extensions in lower case, which custom schemas must not shadow. */
const EXTENSIONS = [
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user',
  'urn:cube:params:1.0:userattribute',
];
/** Beginnings of URNs that the RFCs define, in lower case. */
const RESERVED = ['urn:ietf:params:scim:schemas:core:', 'urn:ietf:params:scim:api:', 'urn:scim:schemas:'];
/** Names that JavaScript itself gives to properties of objects and functions. */
const FORBIDDEN_NAMES = new Set(['constructor', 'prototype']);

/** Returns the custom schemas of the connections that feed a target; those of malformed connections are left out. */
export function schemasFor(document: unknown, target: string | undefined): CustomSchemaConfig[] {
  return select(document, 'connections/*').flatMap(({ value }) => {
    if (!isTree(value) || !Array.isArray(value.targets) || !Array.isArray(value.schemas)) return [];
    return value.targets.includes(target) ? (value.schemas as CustomSchemaConfig[]) : [];
  });
}

/** Returns the faults of all custom schemas. */
export function checkCustomSchemas(document: unknown): ConfigFault[] {
  const attributes = select(document, `${SCHEMAS}/attributes/*`);
  return [
    ...checkUrns(select(document, `${SCHEMAS}/id`)),
    ...checkSameEverywhere(select(document, SCHEMAS)),
    ...[`${SCHEMAS}/attributes`, `${SCHEMAS}/attributes/*/subAttributes`].flatMap((lists) =>
      select(document, lists).flatMap(checkNames),
    ),
    ...attributes.flatMap(checkParts),
  ];
}

/** Returns a name or URN in lower case, for comparisons; '' for a value that is not text, which the schema reports. */
const keyOf = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '');

/** Refuses built-in URNs, and a URN that one connection declares twice. */
function checkUrns(ids: Place[]): ConfigFault[] {
  return ids.flatMap(({ path, keys, value }) => {
    const id = keyOf(value);
    const builtIn =
      RESERVED.some((start) => id.startsWith(start)) ||
      EXTENSIONS.some((urn) => id === urn || id.startsWith(`${urn}:`));
    if (builtIn) return [{ path, message: 'This URN is built in. Use a URN of your own.' }];
    // The second key is the name of the connection.
    const first = ids.findIndex((each) => each.keys[1] === keys[1] && keyOf(each.value) === id);
    return ids[first]?.path === path
      ? []
      : [
          {
            path,
            message: 'This connection declares the same URN twice. Put all attributes into one schema.',
          },
        ];
  });
}

/** Requires equal schemas for one URN in all connections, because mappings read users of all connections. */
function checkSameEverywhere(schemas: Place[]): ConfigFault[] {
  return schemas.flatMap(({ path, keys, value }) => {
    const id = isTree(value) ? keyOf(value.id) : '';
    const first = schemas.find((each) => isTree(each.value) && keyOf(each.value.id) === id);
    // `checkUrns` reports a URN that one connection declares twice. The second key is the name of the connection.
    if (id === '' || !first || first.keys[1] === keys[1] || isDeepStrictEqual(first.value, value)) return [];
    return [{ path, message: `Another connection declares this URN with other content (${first.path}).` }];
  });
}

/** Refuses the names that JavaScript itself uses, and two attributes with one name in a list. */
function checkNames(list: Place): ConfigFault[] {
  const names = select(list.value, '*/name');
  return names.flatMap(({ path, value }, index) => {
    const name = keyOf(value);
    const at = `${list.path}${path}`;
    if (FORBIDDEN_NAMES.has(name)) return [{ path: at, message: 'This name cannot be used.' }];
    const isTwice = name !== '' && names.findIndex((each) => keyOf(each.value) === name) < index;
    return isTwice
      ? [{ path: at, message: 'Another attribute has the same name: case does not matter.' }]
      : [];
  });
}

/** Requires sub-attributes for a complex attribute, and refuses them for any other. */
function checkParts({ path, value }: Place): ConfigFault[] {
  if (!isTree(value)) return [];
  const parts = Array.isArray(value.subAttributes) ? value.subAttributes.length : 0;
  const at = `${path}/subAttributes`;
  if (value.type === 'complex' && parts === 0)
    return [{ path: at, message: 'A complex attribute has at least one part: list its subAttributes.' }];
  if (value.type !== 'complex' && parts > 0)
    return [{ path: at, message: 'Only an attribute of type complex has parts. Write type: complex.' }];
  return [];
}
