// Tests the comparison of desired values with the platform's.
import { createVisibility, differences } from '../../../src/reconcile/compare/compare.ts';
import type { DesiredAccount } from '../../../src/reconcile/compare/compare.ts';
import type { WireUser } from '../../../src/platform/wire.ts';

const wanted = (core: DesiredAccount['core']): DesiredAccount => ({
  inScope: true,
  active: true,
  core,
  attributes: {},
});
const shown = (more: Partial<WireUser>): WireUser => ({ id: '1', userName: 'jo', active: true, ...more });
const namesOf = (core: DesiredAccount['core'], user: WireUser): string[] =>
  differences(wanted(core), user, {}, {}, createVisibility()).map(({ name }) => name);

test.each([
  ['blanks around a text', { displayName: ' Jo Doe ' }, shown({ displayName: 'Jo Doe' })],
  ['the case of a userName', { userName: 'Jo' }, shown({ userName: 'jo' })],
  ['blanks and case of an address', { emails: 'Jo@x ' }, shown({ emails: [{ value: 'jo@x' }] })],
])('a value that the platform stores in a normalized form is no difference: %s', (_what, core, user) => {
  expect(namesOf(core, user)).toEqual([]);
});

test.each([
  ['blanks within', { displayName: 'Jo  Doe' }, shown({ displayName: 'Jo Doe' })],
  ['the case of a display name', { displayName: 'jo doe' }, shown({ displayName: 'Jo Doe' })],
  ['a text that is gone', { displayName: 'Jo' }, shown({})],
])('values that differ are reported as a difference: %s', (_what, core, user) => {
  expect(namesOf(core, user)).toEqual(['displayName']);
});
