// The one way a handler refuses: a status and a sentence. Each API family prints it in its own form.

/** The `scimType` words of RFC 7644 §3.12 that the platform uses. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness';

/** A refusal: HTTP status, text for the client, optional `scimType` (printed by the SCIM family only). */
export class Problem extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, scimType?: ScimType, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'Problem';
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}
