// Six clients that people use, with their defaults. Each is a program of a few lines in clients/.

/** @typedef {{ name: string, of: string, at: string, program: string, over?: 'http' }} RealClient */

/** @type {RealClient[]} */
export const REAL_CLIENTS = [
  real('@modelcontextprotocol/sdk', 'official-v1'),
  real('@modelcontextprotocol/client', 'official-v2'),
  { ...real('mcp-remote', 'mcp-remote'), over: 'http' },
  real('@ai-sdk/mcp', 'ai-sdk'),
  real('@langchain/mcp-adapters', 'langchain'),
  real('@modelcontextprotocol/inspector', 'inspector'),
];

function real(of, program) {
  return {
    name: `${of} (client)`,
    of,
    at: `scoreboard/node_modules/${of}`,
    program: `scoreboard/clients/${program}.mjs`,
  };
}
