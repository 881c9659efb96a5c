// Builds the documentation site into site/ (`npm run site`), or into the folder after --output.
// It fails on a link without a target and on a page of docs that is in no section. --root names another repository.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Eleventy from '@11ty/eleventy';
import { extendMarkdown } from './markdown.mjs';
import { collectSite, createOutputOf } from './pages.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));

/** Returns the page before and the page after each page, by source. */
function neighbours(pages) {
  return new Map(
    pages.map(({ source }, index) => [source, { before: pages[index - 1], after: pages[index + 1] }]),
  );
}

/** Sets up Eleventy: every page is a virtual template, so that the files in docs need no front matter. */
function configure(eleventy, site, found, outputOf) {
  const beside = neighbours(site.pages);
  eleventy.amendLibrary('md', (md) => extendMarkdown(md, { found, outputOf }));
  eleventy.setTemplateFormats(['md']);
  eleventy.setUseGitIgnore(false);
  eleventy.addGlobalData('sections', site.sections);
  eleventy.addFilter('headings', (source) =>
    (found.headings.get(source) ?? []).filter(({ level }) => level === 2),
  );
  for (const { content, ...page } of [...site.pages, ...site.files])
    eleventy.addTemplate(page.output.replace(/html$/, 'md'), content, {
      ...page,
      ...beside.get(page.source),
      // Relative, so that the site works below any address and from a folder.
      base: '../'.repeat(page.output.split('/').length - 1),
      layout: 'page.njk',
      permalink: page.output,
    });
  return {
    dir: { input: '.', includes: '_includes' },
    markdownTemplateEngine: false,
  };
}

/** Builds the site and returns one sentence for each fault. */
async function build(root, output) {
  const site = collectSite(root);
  const outputOf = createOutputOf(site);
  const found = { headings: new Map(), links: [], faults: [] };
  rmSync(output, { recursive: true, force: true });
  process.chdir(HERE);
  const eleventy = new Eleventy('.', relative(HERE, output), {
    quietMode: true,
    configPath: null,
    config: (settings) => configure(settings, site, found, outputOf),
  });
  await eleventy.write();
  for (const image of site.images) {
    const path = join(output, outputOf(image).output);
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(join(root, image), path);
  }
  copyFileSync(join(HERE, 'style.css'), join(output, 'style.css'));
  const anchors = (source) => (found.headings.get(source) ?? []).map(({ id }) => id);
  return [
    ...found.faults,
    ...found.links
      .filter(({ target, anchor }) => !anchors(target).includes(anchor))
      .map(({ source, address }) => `${source}: ${address} leads to no heading`),
    ...site.unlisted.map((source) => `${source} is in no section of .ci/site/navigation.mjs`),
  ];
}

const { root, output } = parseArgs({
  options: { root: { type: 'string', default: join(HERE, '../..') }, output: { type: 'string' } },
}).values;
const folder = resolve(output ?? join(root, 'site'));
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, 'style.css'))) {
  console.error(`${folder} holds other files than a site, and would be emptied: name another folder.`);
  process.exit(1);
}
const faults = await build(resolve(root), folder);
for (const fault of new Set(faults)) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
