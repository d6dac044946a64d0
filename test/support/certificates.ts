import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export const hasOpenssl = spawnSync('openssl', ['version']).error === undefined;

/** The paths of PEM files, and how to read them. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly texts: { readonly ca: string; readonly cert: string; readonly key: string };
}

/** An authority and a certificate of it for 127.0.0.1, until the test ends. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string) => join(folder, name);
  const run = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const [ca, cert, key] = [at('ca.pem'), at('cert.pem'), at('key.pem')];
  const plain = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  run('req', '-x509', ...plain, '-subj', '/CN=test authority', '-keyout', at('ca.key'), '-out', ca);
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1'];
  const own = ['-CA', ca, '-CAkey', at('ca.key'), '-subj', '/CN=member', '-keyout', key, '-out', cert];
  run('req', '-x509', ...plain, ...names, '-addext', 'basicConstraints=critical,CA:FALSE', ...own);
  const text = (file: string) => readFileSync(file, 'utf8');
  return { ca, cert, key, texts: { ca: text(ca), cert: text(cert), key: text(key) } };
}
