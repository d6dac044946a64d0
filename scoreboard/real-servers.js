// Twelve servers that people use, started with keys that open nothing. None of their tools is called where a tool would
// reach out into the network or run something.

const at = (path) => `scoreboard/node_modules/${path}`;

/** @type {import('./subjects.js').Subject[]} */
export const REAL_SERVERS = [
  real('@modelcontextprotocol/server-sequential-thinking', 'dist/index.js', { calls: true }),
  real('tavily-mcp', 'build/index.js', { env: { TAVILY_API_KEY: 'tvly-dummy' } }),
  real('@notionhq/notion-mcp-server', 'bin/cli.mjs', { env: { NOTION_TOKEN: 'ntn_dummy' } }),
  real('@upstash/context7-mcp', 'dist/index.js'),
  real('firecrawl-mcp', 'dist/index.js', { env: { FIRECRAWL_API_KEY: 'fc-dummy' } }),
  // Its feature `docs` asks the network for the list of its tools.
  real('@supabase/mcp-server-supabase', 'dist/cli.js', {
    args: ['--features=account,database,debugging,development,functions,branching,storage'],
    env: { SUPABASE_ACCESS_TOKEN: 'sbp_dummy' },
  }),
  real('figma-developer-mcp', 'dist/bin.js', { args: ['--stdio'], env: { FIGMA_API_KEY: 'dummy' } }),
  real('@sentry/mcp-server', 'dist/index.js', { env: { SENTRY_ACCESS_TOKEN: 'dummy' } }),
  real('@playwright/mcp', 'cli.js', { args: ['--headless'] }),
  real('@eslint/mcp', 'src/mcp-cli.js'),
  real('mcp-server-code-runner', 'dist/cli.js'),
  {
    name: 'fastmcp, an example',
    of: 'fastmcp',
    at: at('fastmcp'),
    command: ['node', 'scoreboard/servers/fastmcp.mjs'],
  },
];

function real(of, file, { args = [], env = {}, calls = false } = {}) {
  return {
    name: of,
    of,
    at: at(of),
    command: ['node', at(`${of}/${file}`), ...args],
    env: { DO_NOT_TRACK: '1', ...env },
    noTools: !calls,
  };
}
