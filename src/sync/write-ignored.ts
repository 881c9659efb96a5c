// Defines the error of a write that the platform answered with success and did not carry out.

/** The answer of the platform shows that it left a write out, or a part of it; the sync retries later. */
export class WriteIgnored extends Error {
  override name = 'WriteIgnored';
}
