// Versions of a resource as weak entity tags (RFC 7644 §3.14): a counter, so a claim that is easy to keep.

export function weakVersion(version: number): string {
  return `W/"${version}"`;
}

/**
 * Whether an `If-Match` or `If-None-Match` header names this version (compared weakly), or is `*`.
 * Without a header: false; ask for its presence first.
 */
export function matches(header: string | undefined, version: string): boolean {
  if (header === undefined) return false;
  const opaque = toOpaque(version);
  return header.split(',').some((item) => item.trim() === '*' || toOpaque(item) === opaque);
}

function toOpaque(tag: string): string {
  return tag
    .trim()
    .replace(/^W\//i, '')
    .replace(/^"(.*)"$/s, '$1');
}
