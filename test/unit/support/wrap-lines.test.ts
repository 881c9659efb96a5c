// Tests the wrapping of text that is shortened to a number of lines.
import { wrapLines } from '../../../src/support/columns.ts';

test('a command stays whole in a text that is shortened to a number of lines', () => {
  const command = 'scim-bridge sync User:qhfr4xjk5m6b0123456789';
  const text = `held since yesterday: order ${command} when the platform may be written again`;
  const lines = wrapLines(text, { columns: 40, most: 2 });
  expect(lines.join('\n')).toContain(command);
  expect(lines).toHaveLength(2);
  const plain = wrapLines('one two three four five six seven', { columns: 12, most: 2 });
  expect(plain).toEqual(['one two', 'three four…']);
});
