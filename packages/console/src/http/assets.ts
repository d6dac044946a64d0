import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { SECURITY_HEADERS } from './headers.js';

/** One file of the page, compressed as it ships. */
interface Asset {
  readonly type: string;
  readonly gzip: Buffer;
  readonly isHashed: boolean;
}

/** The files of the page, by their path below `console/`. Only what the build has made can be asked for. */
export class Assets {
  readonly #assets: ReadonlyMap<string, Asset>;

  constructor(folder: string = WEB_FOLDER) {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const files = names.map((name) => name.replaceAll('\\', '/')).filter((name) => name.endsWith('.gz'));
    this.#assets = new Map(files.map((name) => [name.slice(0, -'.gz'.length), assetAt(folder, name)]));
  }

  has(path: string): boolean {
    return this.#assets.has(path);
  }

  send(path: string, response: ServerResponse, acceptEncoding: string | undefined): void {
    const { type, gzip, isHashed } = this.#assets.get(path)!;
    const takesGzip = /\bgzip\b/.test(acceptEncoding ?? '');
    const bytes = takesGzip ? gzip : gunzipSync(gzip);
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      'content-type': type,
      'content-length': bytes.length,
      vary: 'accept-encoding',
      // The name of a hashed file changes with its content.
      'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(takesGzip && { 'content-encoding': 'gzip' }),
    });
    response.end(bytes);
  }
}

function assetAt(folder: string, name: string): Asset {
  const [, ending = ''] = /\.(\w+)\.gz$/.exec(name) ?? [];
  return {
    type: TYPES[ending] ?? 'application/octet-stream',
    gzip: readFileSync(`${folder}/${name}`),
    isHashed: name.startsWith('assets/'),
  };
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

/** The build puts the page beside this code. Tests run from the sources, and use what was built. */
const WEB_FOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/web' : '../web', import.meta.url),
);
