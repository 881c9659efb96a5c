// Tests that every address of the admin API that a page names exists.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminRoutes } from '../../../src/http/admin/admin.ts';
import type { AdminContext } from '../../../src/http/admin/route.ts';

const DOCS = join(import.meta.dirname, '../../../docs');
const read = (page: string): string => readFileSync(join(DOCS, page), 'utf8');
// Routes read their context only when they are called.
const routes = adminRoutes({} as AdminContext);
const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
const exists = (path: string, method?: string): boolean =>
  path === '/openapi.json' ||
  routes.some((route) => (method ?? route.method) === route.method && patternOf(route.path).test(path));

test('every address below /admin/v1 that a page of docs names exists', () => {
  const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((page) =>
    page.endsWith('.md'),
  );
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/\/admin\/v1(\/[\w/.{}-]*[\w}])/g)].map(([, path = '']) => [page, path] as const),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(([, path]) => !exists(path))).toEqual([]);
});

test('every method and address that docs/api.md and docs/admin.md name exists in the admin API', () => {
  const named = [...`${read('api.md')}${read('admin.md')}`.matchAll(/`(GET|POST|DELETE) (\/[^`?]+)/g)].map(
    ([, method = '', path = '']) => [method, path] as const,
  );
  expect(named.length).toBeGreaterThan(5);
  // An ellipsis stands for the parameters.
  const unknown = named.filter(
    ([method, path]) => !exists(path.replace('…', '{connection}/{name}'), method.toLowerCase()),
  );
  expect(unknown).toEqual([]);
});
