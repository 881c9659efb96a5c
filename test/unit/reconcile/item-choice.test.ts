// Tests which items of a person one run moves, if the person owns more than it may.
import { createItemChoice, MOST_ITEMS, type OwnedItem } from '../../../src/reconcile/handover/owned-items.ts';

const item = (id: string, type: OwnedItem['type'] = 'WORKBOOK'): OwnedItem => ({
  type,
  id,
  name: id,
  from: null,
  fromPath: [],
});

function chosen(items: readonly OwnedItem[], refused: readonly string[]): string[] {
  const choice = createItemChoice(new Set(refused));
  for (const each of items) choice.add(each);
  return choice.chosen().map(({ id }) => id);
}

test('the platform refused as many items as one run moves → the next run moves the others, and tries as many refused ones as fit', () => {
  const refused = Array.from({ length: MOST_ITEMS }, (_, at) => `refused ${at}`);
  const items = [...refused, 'late', 'later'].map((id) => item(id));
  const ids = chosen(
    items,
    refused.map((id) => `WORKBOOK:${id}`),
  );
  expect(ids).toEqual(['late', 'later', ...refused.slice(0, MOST_ITEMS - 2)]);
});

test('a person owns more items than one run moves → the rest is left for the next run', () => {
  const items = Array.from({ length: MOST_ITEMS + 5 }, (_, at) => item(String(at)));
  expect(chosen(items, [])).toEqual(items.slice(0, MOST_ITEMS).map(({ id }) => id));
});

test('folders are moved before workbooks and these before reports, whether refused before or not', () => {
  const items = [item('r', 'REPORT'), item('w'), item('f', 'FOLDER')];
  expect(chosen(items, ['FOLDER:f'])).toEqual(['f', 'w', 'r']);
});
