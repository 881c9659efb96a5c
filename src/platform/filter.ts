// The only place where a SCIM filter is built: values are always quoted and escaped (contract 12.9).

/** `attribute eq "value"`. RFC 7644 §3.4.2.2 takes the value from JSON, so JSON escapes it. */
export function scimFilter(attribute: string, value: string): string {
  return `${attribute} eq ${JSON.stringify(value)}`;
}
