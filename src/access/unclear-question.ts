/** Thrown where a question about access can not be answered as it was asked; the message says what to do. */
export class UnclearQuestion extends Error {
  override name = 'UnclearQuestion';
}
