// Lists the deviations of identity providers from the RFC. Code that accepts a deviation calls `profile.allows(name)`,
// which also counts it. Sources: `gh:o/r#n` is an issue of a public repository.

/**
 * `rfc` refuses all deviations, `lenient` accepts all. `auto` is for an unknown provider: it accepts all, `replace-creates` with a
 * limit, and the log suggests a profile (`suggestProfile`). The others are for the provider of their name.
 */
export type ProfileName = 'auto' | 'rfc' | 'entra' | 'okta' | 'lenient';

interface Deviation {
  readonly name: DeviationName;
  readonly description: string;
  readonly source: string;
  /** Profiles that refuse this deviation, besides `rfc`, which refuses all of them. */
  readonly refusedBy?: readonly ProfileName[];
  /** The profile that this deviation indicates, because no other provider is known to have it. */
  readonly hint?: ProfileName;
}

const table = {
  'string-booleans': {
    description: '"True", "False", "true", "false" where the schema says boolean',
    source: 'Entra default PATCH; gh:scimmyjs/scimmy#51, gh:Captain-P-Goldfish/scim-for-keycloak#119',
  },
  'string-numbers': {
    description: 'numeric text where the schema says decimal or integer',
    source: 'Entra custom attributes, OneLogin templates',
  },
  'empty-scalar': {
    description: 'empty text for a number, boolean or date means no value; except for `active`',
    source: 'OneLogin templates: an empty custom field',
    refusedBy: ['entra', 'okta'],
  },
  'wrapped-value': {
    description: 'a simple value as {"value": …}',
    source: 'Entra with AzureAdScimPatch2017: [{"$ref":null,"value":"x"}]; gh:MicrosoftDocs/azure-docs#42220',
    refusedBy: ['okta'],
  },
  'scalars-as-text': {
    description: 'a number or boolean where the schema says string',
    source: 'Okta integer attributes mapped to text, OneLogin templates',
  },
  'scalar-for-complex': {
    description: 'a bare value where a complex value belongs, read as its `value`',
    source: 'Entra manager as text; gh:Captain-P-Goldfish/SCIM-SDK#686, gh:MicrosoftDocs/azure-docs#69234',
  },
  'list-for-single': {
    description: 'a list of one where a single value belongs',
    source: 'Entra documentation: {"op":"Add","path":"manager","value":[{…}]}',
    hint: 'entra',
  },
  'single-for-list': {
    description: 'a single value where a list belongs',
    source: 'gh:simpleidserver/SimpleIdServer#696',
  },
  'reference-for-value': {
    description: 'only `$ref` given: its last segment is the `value`',
    source: 'gh:apache/directory-scimple#1244',
  },
  'manager-id': {
    description: 'manager as {"managerId": …}',
    source: 'OneLogin body templates (SCIM 1.1 spelling)',
    refusedBy: ['entra', 'okta'],
    hint: 'lenient',
  },
  'empty-reference': {
    description: 'empty text as manager or externalId means no value',
    source: 'gh:pranems/SCIMServer, its page on coercion of manager in PATCH',
  },
  'unknown-attribute': {
    description: 'an attribute that no schema declares is ignored',
    source: 'Entra SCIM validator: misspelt attribute is ignored with 200',
  },
  'unknown-schema': {
    description: 'foreign URNs in `schemas`',
    source: 'Entra POST /Groups (ADSCIM/2.0/Group), OneLogin 1.0 URNs',
  },
  'former-urn': {
    description: 'the enterprise extension under the URN of SCIM 1.1 or of a draft',
    source: 'OneLogin body templates: urn:scim:schemas:extension:enterprise:1.0',
    refusedBy: ['entra', 'okta'],
    hint: 'lenient',
  },
  'urn-dot': {
    description: 'a dot between URN and attribute: urn:ietf:…:enterprise:2.0:User.manager',
    source:
      "Entra before 2019 (Microsoft's known issues of SCIM); SCIM Inbound collection of AzureAD/SCIMReferenceCode",
    refusedBy: ['okta'],
    hint: 'entra',
  },
  'missing-schema': {
    description: '`schemas` is missing, or without the core URN',
    source: 'gh:wso2-extensions/identity-inbound-provisioning-scim2#438, OneLogin',
  },
  'message-schema': {
    description: 'a message without its URN, or with another one',
    source: 'gh:Infisical/infisical#6552',
  },
  'operation-case': {
    description: '"Add", "Replace", "Remove"',
    source: 'Entra default PATCH; gh:ssoready/ssoready#159',
    hint: 'entra',
  },
  'empty-operations': {
    description: 'PATCH with no operation at all',
    source: 'gh:AzureAD/SCIMReferenceCode#112, gh:scimmyjs/scimmy#90',
  },
  'path-keys': {
    description:
      'keys of a pathless value that are paths: name.givenName, emails[type eq "work"].value, URN:attribute',
    source: 'Entra with aadOptscim062020',
    hint: 'entra',
  },
  'unqualified-extension': {
    description: 'an attribute of an extension without its URN',
    source: 'Entra documentation: path "manager"',
    hint: 'entra',
  },
  'read-only-ignored': {
    description: '`id`, `meta`, `groups`, `manager.displayName` in a PATCH are ignored',
    source: 'Okta group push: {"op":"replace","value":{"id":…,"displayName":…}}',
    hint: 'okta',
  },
  'replace-creates': {
    description:
      'replace with a value path that matches nothing creates the value; under auto only for a canonical type of the schema',
    source: 'Entra; gh:Captain-P-Goldfish/scim-for-keycloak#73, gh:zitadel/zitadel#9690',
  },
  'remove-with-value': {
    description: 'remove with a list of values removes those values only',
    source: 'Entra group members; gh:MicrosoftDocs/azure-docs#30826, gh:segmentio/segment-docs#6726',
    hint: 'entra',
  },
  'bare-member': {
    description: 'a group member as bare text',
    source: 'Entra SCIM validator, Keycloak',
  },
  'unquoted-filter-value': {
    description: 'userName eq jdoe',
    source: 'Entra SCIM validator and documentation, PingFederate',
    refusedBy: ['okta'],
  },
  'email-singular': {
    description: '`email` for `emails` in a filter',
    source: 'PingOne filter expressions: email Co "%s"',
    refusedBy: ['entra', 'okta'],
  },
  'single-quotes': {
    description: "userName eq 'jdoe'",
    source: "RFC 7644 §3.7.1, its own example: filter=displayName sw 'Group'",
    refusedBy: ['entra', 'okta'],
  },
  'value-path-comparison': {
    description: 'emails[type eq "work"].value eq "x" as a filter',
    source: 'Entra matching attribute',
    refusedBy: ['okta'],
    hint: 'entra',
  },
} as const satisfies Record<string, Omit<Deviation, 'name'>>;

export type DeviationName = keyof typeof table;

/** All deviations, for documents and metrics. */
export const deviations: readonly Deviation[] = Object.entries(table).map(([name, rest]) => ({
  name: name as DeviationName,
  ...rest,
}));

export interface Profile {
  readonly name: ProfileName;
  /**
   * Whether an externalId identifies one person. Under `okta` it does: Okta renames with a POST of the same externalId
   * (gh:growthbook/growthbook#1680). RFC 7643 requires no uniqueness, and Entra's default (mailNickname) can be reused.
   */
  readonly hasUniqueExternalIds: boolean;
  /** Returns whether the profile accepts the deviation, and counts an accepted one. Call it only for a request that deviates. */
  allows(deviation: DeviationName): boolean;
}

export const hasUniqueExternalIds = (profile: ProfileName): boolean => profile === 'okta';

/** Returns the profile, which calls `onDeviation` for every accepted deviation. */
export function profileOf(
  name: ProfileName,
  onDeviation: (accepted: DeviationName) => void = () => {},
): Profile {
  const refused = new Set<DeviationName>();
  for (const deviation of deviations) {
    if (name === 'rfc' || deviation.refusedBy?.includes(name)) refused.add(deviation.name);
  }
  return {
    name,
    hasUniqueExternalIds: hasUniqueExternalIds(name),
    allows(deviation) {
      if (refused.has(deviation)) return false;
      onDeviation(deviation);
      return true;
    },
  };
}

/** How often each deviation was accepted. */
type DeviationCounts = ReadonlyMap<DeviationName, number>;

/** Number of deviations of one provider that are enough evidence. */
const ENOUGH = 5;
const HINTS = new Map(deviations.map(({ name, hint }) => [name, hint]));

/**
 * Returns the profile of the provider that the deviations indicate. Returns `lenient` when they indicate several
 * providers, or when that profile would refuse one of the deviations. Returns undefined while the evidence is not
 * sufficient.
 */
export function suggestProfile(counts: DeviationCounts): ProfileName | undefined {
  const votes = new Map<ProfileName, number>();
  for (const [deviation, count] of counts) {
    const hint = HINTS.get(deviation);
    if (hint) votes.set(hint, (votes.get(hint) ?? 0) + count);
  }
  const indicated = [...votes].filter(([, count]) => count >= ENOUGH).map(([name]) => name);
  const [first] = indicated;
  if (!first) return undefined;
  const profile = profileOf(first);
  const fits = indicated.length === 1 && [...counts.keys()].every((deviation) => profile.allows(deviation));
  return fits ? first : 'lenient';
}
