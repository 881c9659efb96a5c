// Tests how small texts are joined to larger pieces of a stream.
import { expect, test } from '@jest/globals';
import { inPieces } from '../../../src/support/pieces.ts';

const pieces = (texts: string[], bytes: number): string[] =>
  [...inPieces(texts, bytes)].map((piece) => piece.toString());

test('small texts are joined to pieces of at least a given size, and no text is lost', () => {
  expect(pieces(['ab', 'cd', 'ef', 'g'], 4)).toEqual(['abcd', 'efg']);
  expect(pieces(['abcdef', 'g'], 4)).toEqual(['abcdef', 'g']);
  expect(pieces([], 4)).toEqual([]);
  expect(pieces(['é', '𝄞'], 1)).toEqual(['é', '𝄞']);
});
