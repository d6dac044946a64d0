import { homedir } from 'node:os';
import path from 'node:path';

/** Where an application keeps its servers. */
export interface KnownFile {
  readonly application: string;
  readonly scope: 'user' | 'project';
  readonly path: string;
}

export interface Whereabouts {
  /** The folder of the project. Default: that of the process. */
  readonly cwd?: string;
  readonly home?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

/** The files that other applications read, there or not. Those of the project come last, so that they win. */
export function knownFiles(where: Whereabouts = {}): readonly KnownFile[] {
  const { cwd = process.cwd(), home = homedir(), env = process.env, platform = process.platform } = where;
  const { join } = platform === 'win32' ? path.win32 : path.posix;
  const set = (name: string) => env[name] || undefined;
  const xdg = set('XDG_CONFIG_HOME') ?? join(home, '.config');
  const roaming = set('APPDATA') ?? join(home, 'AppData', 'Roaming');
  const data =
    platform === 'win32'
      ? roaming
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : xdg;
  const zed =
    platform === 'win32'
      ? join(roaming, 'Zed')
      : join(platform === 'darwin' ? join(home, '.config') : xdg, 'zed');
  const inCode = join(data, 'Code', 'User', 'globalStorage');
  const user: readonly (readonly [string, string])[] = [
    ['Claude Desktop', join(data, 'Claude', 'claude_desktop_config.json')],
    ['Claude Code', join(set('CLAUDE_CONFIG_DIR') ?? home, '.claude.json')],
    ['Codex', join(set('CODEX_HOME') ?? join(home, '.codex'), 'config.toml')],
    ['Cursor', join(home, '.cursor', 'mcp.json')],
    ['Gemini CLI', join(home, '.gemini', 'settings.json')],
    ['VS Code', join(data, 'Code', 'User', 'mcp.json')],
    ['Cline', join(inCode, 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json')],
    ['Roo Code', join(inCode, 'rooveterinaryinc.roo-cline', 'settings', 'mcp_settings.json')],
    ['Windsurf', join(home, '.codeium', 'windsurf', 'mcp_config.json')],
    ['Zed', join(zed, 'settings.json')],
  ];
  const project: readonly (readonly [string, string])[] = [
    ['Codex', join(cwd, '.codex', 'config.toml')],
    ['Cursor', join(cwd, '.cursor', 'mcp.json')],
    ['Gemini CLI', join(cwd, '.gemini', 'settings.json')],
    ['VS Code', join(cwd, '.vscode', 'mcp.json')],
    ['Roo Code', join(cwd, '.roo', 'mcp.json')],
    ['Zed', join(cwd, '.zed', 'settings.json')],
    ['Claude Code', join(cwd, '.mcp.json')],
  ];
  return [
    ...user.map(([application, file]) => ({ application, scope: 'user' as const, path: file })),
    ...project.map(([application, file]) => ({ application, scope: 'project' as const, path: file })),
  ];
}

/**
 * What relative paths in a file start from: its project. That is the folder of the file, or the one around it
 * when it is in the folder of an editor. A user's own file belongs to no project, so there it is `cwd`, as with
 * the applications themselves.
 */
export function projectOf(file: string, where: Required<Pick<Whereabouts, 'cwd' | 'home' | 'env'>>): string {
  if (knownFiles(where).some((known) => known.scope === 'user' && known.path === file)) return where.cwd;
  const folder = path.dirname(file);
  if (!EDITOR_FOLDERS.has(path.basename(folder))) return folder;
  const around = path.dirname(folder);
  return around === where.home ? where.cwd : around;
}

const EDITOR_FOLDERS: ReadonlySet<string> = new Set([
  ...['.cursor', '.vscode', '.zed', '.codex', '.roo', '.gemini', '.kiro', '.windsurf'],
]);
