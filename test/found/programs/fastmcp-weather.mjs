// A server of the fastmcp package with one tool, on stdio.
import { FastMCP } from 'fastmcp';

const server = new FastMCP({ name: 'weather', version: '1.0.0' });
server.addTool({ name: 'forecast', description: 'The weather', execute: async () => 'sunny' });
await server.start({ transportType: 'stdio' });
