import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** A file in which an application keeps its servers. */
export interface KnownFile {
  readonly application: string;
  readonly scope: 'user' | 'project';
  readonly path: string;
}

/** The machine whose configuration files are looked for: its platform, folders and variables. */
export interface Whereabouts {
  /** The folder of the project. Default: the working directory. */
  readonly cwd?: string;
  readonly home?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

/** The files of other applications, whether they exist or not. Project files come last, so that they override user files. */
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
    ['LM Studio', join(home, '.lmstudio', 'mcp.json')],
    ['Kiro', join(home, '.kiro', 'settings', 'mcp.json')],
    ['Continue', join(home, '.continue', 'config.yaml')],
    [
      'Goose',
      platform === 'win32'
        ? join(roaming, 'Block', 'goose', 'config', 'config.yaml')
        : join(xdg, 'goose', 'config.yaml'),
    ],
    ['Amp', join(xdg, 'amp', 'settings.json')],
    ['opencode', join(xdg, 'opencode', 'opencode.json')],
    ['opencode', join(xdg, 'opencode', 'opencode.jsonc')],
  ];
  const blocks = join(cwd, '.continue', 'mcpServers');
  const project: readonly (readonly [string, string])[] = [
    ['Kiro', join(cwd, '.kiro', 'settings', 'mcp.json')],
    ...filesIn(blocks).map((name) => ['Continue', join(blocks, name)] as const),
    ['Amp', join(cwd, '.amp', 'settings.json')],
    ['opencode', join(cwd, 'opencode.json')],
    ['opencode', join(cwd, 'opencode.jsonc')],
    ['opencode', join(cwd, '.opencode', 'opencode.json')],
    ['opencode', join(cwd, '.opencode', 'opencode.jsonc')],
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

/** Continue reads all files of a folder; the user chooses their names. */
function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/i.test(name));
    return names.sort().slice(0, MAX_FILES);
  } catch {
    return [];
  }
}

const MAX_FILES = 100;

/**
 * The project of a file, which its relative paths start from. It is the folder of the file, or the parent if that folder is
 * the settings folder of an editor. For a file of the user it is `cwd`, as in the applications themselves.
 */
export function projectOf(file: string, given: Pick<Whereabouts, 'cwd' | 'home' | 'env'> = {}): string {
  const { cwd = process.cwd(), home = homedir(), env = process.env } = given;
  const where = { cwd, home, env };
  if (knownFiles(where).some((known) => known.scope === 'user' && known.path === file)) return where.cwd;
  const folder = path.dirname(file);
  const above = path.dirname(folder);
  // The files of Kiro and Continue are one folder deeper.
  const isDeeper = DEEPER.has(`${path.basename(above)}/${path.basename(folder)}`);
  if (!isDeeper && !EDITOR_FOLDERS.has(path.basename(folder))) return folder;
  const around = isDeeper ? path.dirname(above) : above;
  return around === where.home ? where.cwd : around;
}

const EDITOR_FOLDERS: ReadonlySet<string> = new Set([
  ...['.cursor', '.vscode', '.zed', '.codex', '.roo', '.gemini', '.kiro', '.windsurf'],
  ...['.amp', '.opencode', '.continue', '.lmstudio'],
]);
const DEEPER: ReadonlySet<string> = new Set(['.kiro/settings', '.continue/mcpServers']);
