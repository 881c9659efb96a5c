/** Marks a switch as exhaustive: the compiler refuses it when a case is missing. */
export function never(value: never): never {
  throw new Error(`Unexpected case: ${JSON.stringify(value)}`);
}
