// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** A file of each application, as that application would have it. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { read } from '../support/config.js';

it('reads .mcp.json of Claude Code', async () => {
  const { folder, servers, problems } = await read(
    `{
  "mcpServers": {
    "weather": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@example/weather", "--city=\${CITY:-Oslo}"],
      "env": { "API_KEY": "\${WEATHER_KEY}" }
    },
    "issues": {
      "type": "http",
      "url": "https://\${ISSUES_HOST:-issues.example}/mcp",
      "headers": { "Authorization": "Bearer \${ISSUES_TOKEN}" },
      "timeout": 600000
    }
  }
}`,
    { env: { WEATHER_KEY: 'k', ISSUES_TOKEN: 't' } },
  );
  const file = join(folder, '.mcp.json');
  expect(problems).toEqual([]);
  expect(servers).toEqual({
    weather: {
      kind: 'command',
      name: 'weather',
      command: 'npx',
      args: ['-y', '@example/weather', '--city=Oslo'],
      env: { API_KEY: 'k' },
      cwd: folder,
      source: { file, line: 3, key: 'mcpServers.weather' },
    },
    issues: {
      kind: 'url',
      name: 'issues',
      url: 'https://issues.example/mcp',
      transport: 'http',
      headers: { Authorization: 'Bearer t' },
      timeoutMs: 600_000,
      source: { file, line: 9, key: 'mcpServers.issues' },
    },
  });
});

it('reads ~/.claude.json among everything else that is in it', async () => {
  const text = `{ "numStartups": 7, "projects": { "/p": { "mcpServers": {} } }, "mcpServers": { "fs": { "command": "fs" } } }`;
  const { servers, problems } = await read(text, { as: '.claude.json' });
  expect(problems).toEqual([]);
  expect(Object.keys(servers)).toEqual(['fs']);
});

it('reads what ~/.claude.json has for the project only, which wins', async () => {
  const text = `{
  "mcpServers": { "fs": { "command": "for-all" }, "all": { "command": "all" } },
  "projects": {
    "/p": { "mcpServers": { "fs": { "command": "for-p" } } },
    "/q": { "mcpServers": { "other": { "command": "for-q" } } }
  }
}`;
  const { servers } = await read(text, { as: '.claude.json', workspaceFolder: '/p' });
  expect(Object.keys(servers)).toEqual(['fs', 'all']);
  expect(servers['fs']).toMatchObject({ command: 'for-p', source: { line: 4 }, overrides: [{ line: 2 }] });
});

it('reads claude_desktop_config.json', async () => {
  const { servers, problems } = await read(
    `{
  "globalShortcut": "",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/ada/Desktop"]
    }
  }
}`,
    { as: 'claude_desktop_config.json' },
  );
  expect(problems).toEqual([]);
  expect(servers['filesystem']).toMatchObject({
    kind: 'command',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem', '/Users/ada/Desktop'],
    env: {},
  });
});

it('reads .cursor/mcp.json, whose project is the folder around it', async () => {
  const { folder, servers, problems } = await read(
    `{
  "mcpServers": {
    "local": {
      "command": "python",
      "args": ["\${workspaceFolder}/tools/server.py", "\${workspaceFolderBasename}\${/}x\${pathSeparator}y"],
      "env": { "HOME_OF": "\${userHome}", "KEY": "\${env:KEY}" },
      "envFile": "\${workspaceFolder}/.env"
    },
    "remote": { "url": "https://mcp.example/sse", "headers": { "X-Key": "\${env:KEY}" } }
  }
}`,
    { as: 'shop/.cursor/mcp.json', env: { KEY: 'k' } },
  );
  const project = join(folder, 'shop');
  expect(servers['local']).toBeUndefined();
  const { servers: without } = await read(
    `{
  "mcpServers": {
    "local": {
      "command": "python",
      "args": ["\${workspaceFolder}/tools/server.py", "\${workspaceFolderBasename}\${/}x\${pathSeparator}y"],
      "env": { "HOME_OF": "\${userHome}", "KEY": "\${env:KEY}" }
    }
  }
}`,
    { as: 'shop/.cursor/mcp.json', env: { KEY: 'k' }, workspaceFolder: project },
  );
  expect(without['local']).toMatchObject({
    args: [`${project}/tools/server.py`, 'shop/x/y'],
    env: { HOME_OF: '/home/ada', KEY: 'k' },
    cwd: project,
  });
  expect(servers['remote']).toMatchObject({ kind: 'url', transport: 'auto', headers: { 'X-Key': 'k' } });
  // There is no such file here; test/found has those that are there.
  expect(problems).toEqual(['error 7:7 mcpServers.local.envFile: cannot be read: there is no such file']);
});

const VSCODE = `{
  // Asked for once, then kept by the editor.
  "inputs": [
    { "type": "promptString", "id": "token", "description": "A token", "password": true },
    { "type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu" },
  ],
  "servers": {
    "here": { "type": "stdio", "command": "node", "args": ["server.js"], "cwd": "\${workspaceFolder}/sub", "dev": {} },
    "there": {
      "type": "http",
      "url": "https://mcp.example/\${input:region}",
      "headers": { "Authorization": "Bearer \${input:token}" },
    },
  },
}`;

it('reads .vscode/mcp.json; an input without a value is a problem of its server only', async () => {
  const { folder, servers, problems } = await read(VSCODE, { as: '.vscode/mcp.json' });
  expect(Object.keys(servers)).toEqual(['here']);
  expect(servers['here']).toMatchObject({ command: 'node', args: ['server.js'], cwd: join(folder, 'sub') });
  expect(problems).toEqual([
    'error 12:20 servers.there.headers.Authorization: ${input:token} has no value: an editor would ask for it',
  ]);
});

it('takes the values of inputs', async () => {
  const { servers, problems } = await read(VSCODE, { as: '.vscode/mcp.json', inputs: { token: 's3cret' } });
  expect(problems).toEqual([]);
  expect(servers['there']).toMatchObject({
    url: 'https://mcp.example/eu',
    headers: { Authorization: 'Bearer s3cret' },
  });
});

it('reads the servers in the settings of an older VS Code', async () => {
  const { servers } = await read('{ "mcp": { "servers": { "a": { "command": "a" } } } }', {
    as: 'settings.json',
  });
  expect(servers['a']!.source.key).toBe('mcp.servers.a');
});

it('reads mcp_config.json of Windsurf', async () => {
  const { servers, problems } = await read(
    `{ "mcpServers": {
      "remote": { "serverUrl": "https://mcp.example/mcp", "headers": { "API-Key": "\${env:KEY}" }, "disabledTools": ["x"] },
      "off": { "command": "py", "args": ["-m", "git"], "disabled": true, "env": {} }
    } }`,
    { as: 'mcp_config.json', env: { KEY: 'k' } },
  );
  expect(problems).toEqual([]);
  expect(servers['remote']).toMatchObject({ url: 'https://mcp.example/mcp', headers: { 'API-Key': 'k' } });
  expect(servers['off']).toMatchObject({ kind: 'command', disabled: true });
});

it('reads config.toml of Codex', async () => {
  const { folder, servers, problems } = await read(
    `model = "gpt"
notify = ["sh", "-c", "[x] # no comment"]

[mcp_servers.docs] # with a comment
command = "npx"
args = [
  "-y", # first
  "@example/docs",
]
env_vars = ["PASSED_ON", "NOT_SET"]
startup_timeout_sec = 20
tool_timeout_sec = 45.5
cwd = "~/docs"

[mcp_servers.docs.env]
LEVEL = 3

[mcp_servers."on the web"]
url = "https://mcp.example/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { "X-A" = "1" }
env_http_headers = { "X-B" = "B_VALUE" }
enabled = false

[mcp_servers.broken]
command = "x"
env = { KEY = "\${MISSING}" }
`,
    { as: 'config.toml', env: { PASSED_ON: 'p', TOKEN: 't', B_VALUE: 'b' } },
  );
  const file = join(folder, 'config.toml');
  expect(servers).toEqual({
    docs: {
      kind: 'command',
      name: 'docs',
      command: 'npx',
      args: ['-y', '@example/docs'],
      env: { PASSED_ON: 'p', LEVEL: '3' },
      cwd: '/home/ada/docs',
      timeoutMs: 45_500,
      connectTimeoutMs: 20_000,
      source: { file, line: 4, key: 'mcp_servers.docs' },
    },
    'on the web': {
      kind: 'url',
      name: 'on the web',
      url: 'https://mcp.example/mcp',
      transport: 'auto',
      headers: { 'X-A': '1', 'X-B': 'b', Authorization: 'Bearer t' },
      disabled: true,
      source: { file, line: 18, key: 'mcp_servers["on the web"]' },
    },
  });
  // Inside of an inline table, the line is that of the table.
  expect(problems).toEqual(['error 27:1 mcp_servers.broken.env.KEY: the variable MISSING is not set']);
});

it('reads the settings of Zed, in its newer and its older form', async () => {
  const { servers, problems } = await read(
    `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "new": { "source": "custom", "enabled": true, "command": "uv", "args": ["run"], "env": {}, "timeout": 1800 },
    "old": { "source": "custom", "command": { "path": "/bin/old", "args": ["-v"], "env": { "A": "1" } }, "settings": {} },
    "remote": { "url": "https://mcp.example/mcp" },
    "extension": { "source": "extension", "enabled": true, "settings": { "key": "secret" } },
  },
}`,
    { as: '.zed/settings.json' },
  );
  expect(servers['new']).toMatchObject({ command: 'uv', args: ['run'], timeoutMs: 1_800_000 });
  expect(servers['old']).toMatchObject({ command: '/bin/old', args: ['-v'], env: { A: '1' } });
  expect(servers['remote']).toMatchObject({ kind: 'url', url: 'https://mcp.example/mcp' });
  expect(problems).toEqual([
    'warning 8:5 context_servers.extension: comes from a Zed extension; only Zed can start it',
  ]);
});
