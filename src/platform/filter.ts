// Builds SCIM filters; it is the only place that quotes and escapes their values (contract 12.9).

/** Returns `attribute eq "value"`. RFC 7644 §3.4.2.2 defines the value as JSON, so JSON escapes it. */
export function scimFilter(attribute: string, value: string): string {
  return `${attribute} eq ${JSON.stringify(value)}`;
}
