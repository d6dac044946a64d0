import { basename, isAbsolute, resolve } from 'node:path';
import { type DocumentTable, isTable } from './documents/document.js';
import { type EntryTransport, transportOf } from './read-endpoint.js';
import type { Definition } from './survey.js';

/** A server of any application as plain JSON for `mcpServers`. */
export type PortableServer = Readonly<Record<string, unknown>>;

/**
 * The server with our names, for a file in another folder. References are kept, so that no secret is written that the file
 * does not contain. `project`: the base of relative paths, if the file belongs to a project.
 */
export function toPortable(
  { found: { value }, settings }: Definition,
  project: string | undefined,
): PortableServer | undefined {
  const transport = isTable(value) ? transportOf(value) : undefined;
  if (!isTable(value) || !transport || transport.kind === 'wrong') return undefined;
  const part = transport.kind === 'command' ? toCommand(value, project) : toUrl(value, transport);
  return withProject({ ...part, ...settings }, project) as PortableServer;
}

function toCommand(table: DocumentTable, project: string | undefined): PortableServer {
  const given = table.get('command');
  const inner = isTable(given) ? given : undefined;
  const [command, ...listed] = Array.isArray(given) ? given : [inner ? inner.get('path') : given];
  const args = [...listed, ...listOf((inner ?? table).get('args'))];
  const env = { ...plainTable(inner?.get('env')), ...plainTable(table.get('env')) };
  const passed = table.get('env_vars');
  return {
    command: plain(command),
    ...(args.length > 0 && { args: plain(args) as unknown }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(passed !== undefined && { env_vars: plain(passed) }),
    ...fileOf(table.get('envFile'), project),
    ...folderOf(table.get('cwd'), project),
  };
}

/** An absolute path; the values stay in that file. */
function fileOf(envFile: unknown, project: string | undefined): { envFile?: string } {
  if (typeof envFile !== 'string' || envFile === '') return {};
  const stays = project === undefined || isAbsolute(envFile) || /^(~|\$|[A-Za-z]:[\\/])/.test(envFile);
  return { envFile: stays ? envFile : resolve(asText(project), envFile) };
}

/** A folder that does not depend on the position of the new file. */
function folderOf(cwd: unknown, project: string | undefined): { cwd?: unknown } {
  if (project === undefined) return cwd === undefined ? {} : { cwd };
  if (cwd === undefined) return { cwd: asText(project) };
  const stays = typeof cwd !== 'string' || isAbsolute(cwd) || /^(~|\$|[A-Za-z]:[\\/])/.test(cwd);
  return { cwd: stays ? cwd : resolve(asText(project), cwd) };
}

function toUrl(table: DocumentTable, { key, transport }: EntryTransport & { kind: 'url' }): PortableServer {
  const token = table.get('bearer_token_env_var');
  const named = Object.entries(plainTable(table.get('env_http_headers')));
  const headers = {
    ...plainTable(table.get('http_headers')),
    ...plainTable(table.get('headers')),
    ...Object.fromEntries(named.map(([header, name]) => [header, `\${${String(name)}}`])),
    ...(token !== undefined && { Authorization: `Bearer \${${String(token)}}` }),
  };
  return {
    ...(transport !== 'auto' && { type: transport }),
    url: plain(table.get(key)),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(table.has('auth') && { auth: plain(table.get('auth')) }),
  };
}

/** Replaces references to the project, which the new file does not know. */
function withProject(value: unknown, project: string | undefined): unknown {
  if (project === undefined) return value;
  if (typeof value === 'string') {
    return value.replace(/\$\$\{|\$\{workspaceFolder(Basename)?\}/g, (whole, base: string | undefined) => {
      if (whole === '$${') return whole;
      return asText(base === undefined ? project : basename(project));
    });
  }
  if (Array.isArray(value)) return value.map((item) => withProject(item, project));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withProject(inner, project)]));
}

/** Escapes references in a text. */
function asText(text: string): string {
  return text.replaceAll('${', () => '$${');
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function plainTable(value: unknown): Readonly<Record<string, unknown>> {
  return isTable(value) ? (plain(value) as Record<string, unknown>) : {};
}

/** Tables of a file as plain objects. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)])) : value;
}
