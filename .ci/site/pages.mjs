// Lists the files of the site: pages of the navigation, other files of the repository that a page links to, and images.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { INSTEAD, SECTIONS } from './navigation.mjs';

const LINK = /!?\]\((?!https?:|mailto:|#)([^)#\s]+)/g;
const IMAGE = /\.(?:png|svg)$/;

/** Returns the path on the site: pages of docs on top, other files below `repository`. */
export function outputPath(source) {
  const below = source.startsWith('docs/') ? source.slice('docs/'.length) : `repository/${source}`;
  if (IMAGE.test(below)) return below;
  if (!below.endsWith('.md')) return `${below}.html`;
  return below.replace(/\.md$/, '.html').replace(/README(?=\.html$)/, 'index');
}

/** A page that shows files as they are: one file, or all files of a folder. */
function filePage(root, source) {
  const isFolder = statSync(join(root, source)).isDirectory();
  const names = isFolder ? readdirSync(join(root, source)) : [''];
  const shown = names.map((name) => {
    const text = readFileSync(join(root, source, name), 'utf8').trimEnd();
    return `${name === '' ? '' : `## ${name}\n\n`}~~~~~~\n${text}\n~~~~~~\n`;
  });
  return { source, output: outputPath(source), title: source, content: `# ${source}\n\n${shown.join('\n')}` };
}

const titleOf = (content) => (/^# (.+)$/m.exec(content)?.[1] ?? '').replaceAll('`', '');

function pagesOf(root, { title: section, pages, folder }) {
  const rest = folder
    ? readdirSync(join(root, folder))
        .map((name) => `${folder}/${name}`)
        .filter((path) => path.endsWith('.md') && !pages.flat().includes(path))
    : [];
  return [...pages, ...rest].map((entry) => {
    const [source, label] = [entry].flat();
    const content = readFileSync(join(root, source), 'utf8');
    const title = titleOf(content);
    return { source, output: outputPath(source), section, title, label: label ?? title, content };
  });
}

/** Returns all files of the site, and the pages of docs that are in no section. */
export function collectSite(root) {
  const sections = SECTIONS.map((section) => ({ title: section.title, pages: pagesOf(root, section) }));
  const pages = sections.flatMap((section) => section.pages);
  const known = new Set(pages.map(({ source }) => source));
  const linked = pages.flatMap(({ source, content }) =>
    [...content.matchAll(LINK)].map(([, path]) =>
      posix.normalize(posix.join(posix.dirname(source), decodeURI(path))).replace(/\/$/, ''),
    ),
  );
  const hasPage = (path) => known.has(path) || known.has(`${path}/README.md`) || path in INSTEAD;
  const others = [...new Set(linked)].filter(
    (path) => !path.startsWith('..') && existsSync(join(root, path)) && !hasPage(path),
  );
  const files = others.filter((path) => !IMAGE.test(path)).map((path) => filePage(root, path));
  const images = others.filter((path) => IMAGE.test(path));
  const unlisted = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && !known.has(path));
  return { sections, pages, files, images, unlisted };
}

/** Returns a function that finds the page or image for a path of the repository. */
export function createOutputOf({ pages, files, images }) {
  const all = new Map([
    ...[...pages, ...files].map(({ source, output }) => [source, { source, output }]),
    ...images.map((source) => [source, { source, output: outputPath(source) }]),
  ]);
  return (path) => {
    const plain = path.replace(/\/$/, '');
    return all.get(INSTEAD[plain] ?? plain) ?? all.get(`${plain}/README.md`);
  };
}
