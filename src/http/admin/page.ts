// Serves the files of the operators' page from memory, with security headers that restrict the page to this server.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join, posix } from 'node:path';
import express, { type Router } from 'express';
import helmet from 'helmet';

const FOLDER = join(import.meta.dirname, '../../ui');
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const protect = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["'none'"],
    },
  },
  // A proxy terminates TLS in front of the bridge, so the proxy decides about Strict-Transport-Security.
  strictTransportSecurity: false,
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
});

interface PageFile {
  type: string;
  etag: string;
  content: Buffer;
}

/** Returns a router for the path /admin. It reads all files once, now. */
export function createPage(): Router {
  const files = readFiles();
  const router = express.Router({ strict: true });
  router.use(protect);
  router.use((request, response, next) => {
    const [requestedPath] = request.originalUrl.split('?');
    // The page has relative addresses, which are right only below `/admin/`.
    if (requestedPath === '/admin') {
      response.writeHead(308, { Location: '/admin/' }).end();
      return;
    }
    const path = request.url.split('?')[0] ?? '/';
    const file = files.get(path === '/' ? '/index.html' : path);
    // The handler behind this one answers 404.
    if (!file || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    const headers = { ETag: file.etag, 'Cache-Control': 'no-cache' };
    if (request.headers['if-none-match'] === file.etag) response.writeHead(304, headers).end();
    else {
      const length = file.content.length;
      response.writeHead(200, { ...headers, 'Content-Type': file.type, 'Content-Length': length });
      response.end(file.content); // Node.js leaves the body out of an answer to HEAD
    }
  });
  return router;
}

/** Returns the files of FOLDER with a known media type, and the files of npm packages, by their path in the address. */
function readFiles(): Map<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const name of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })) {
    const file = readPageFile(join(FOLDER, name));
    if (file) files.set(posix.join('/', name.replaceAll('\\', '/')), file);
  }
  for (const path of packagedFiles()) {
    const file = readPageFile(path);
    if (file) files.set(`/${basename(path)}`, file);
  }
  return files;
}

/** Returns the paths of the files that the page loads from npm packages in node_modules. */
function packagedFiles(): string[] {
  const require = createRequire(import.meta.url);
  return [require.resolve('uplot/dist/uPlot.iife.min.js'), require.resolve('uplot/dist/uPlot.min.css')];
}

/** Reads a file; undefined for a media type that the page does not use. */
function readPageFile(path: string): PageFile | undefined {
  const type = TYPES[extname(path)];
  if (type === undefined) return undefined;
  const content = readFileSync(path);
  // 22 characters of base64url: 132 bits of the digest.
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  return { type, etag, content };
}
