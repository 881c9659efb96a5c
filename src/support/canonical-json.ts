// Serialises JSON in canonical form: equal values give equal texts, independent of property order.

/** Returns JSON text with sorted property names, without properties whose value is undefined. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
  }
  // An element that is undefined becomes null, as in JSON.stringify.
  return JSON.stringify(value) ?? 'null';
}
