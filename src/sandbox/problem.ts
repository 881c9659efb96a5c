// Defines the error that handlers throw. Each API family formats it in its own way.

/** The `scimType` values of RFC 7644 §3.12 that the platform uses. */
export type ProblemScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness';

/** A refusal: HTTP status, text for the client, optional `scimType` (used by the SCIM family only). */
export class SandboxProblem extends Error {
  readonly status: number;
  readonly scimType: ProblemScimType | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    scimType?: ProblemScimType,
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.name = 'SandboxProblem';
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}
