export const SERVE_HELP = `
--listen takes http://HOST:PORT/PATH, stdio, unix:PATH or tcp://HOST:PORT; port 0 takes a free one. With stdio
among several, the end of stdin ends them all. A command is started first and gets a clean environment; what it
writes to stderr is passed on. One that ends at once is started again five times within half a minute. An
--upstream that is away is tried again with each request.

With --config each server is at /mcp/NAME and /servers/NAME/mcp, and all of them together are at /mcp, as NAME__tool.
Every HTTP address also has /healthz, /readyz, /status and /metrics, and /sse with /message for clients of 2024-11-05.
Files are read again when they change, and on SIGHUP. isthmus status, restart, stop, start, logs and doctor talk to
what runs here.

Variables stand for what is not typed. Options of supergateway, mcp-proxy and mcp-remote are understood, and all of them
in camelCase, too; docs/moving.md has the lines side by side.

Examples:
  isthmus serve -- npx -y @modelcontextprotocol/server-everything     # a stdio server, over HTTP
  isthmus serve --config .mcp.json                                    # all servers of a file
  isthmus serve --named-server a "npx -y server-a" --named-server b "npx -y server-b"
  isthmus serve --import cursor --port 9000                           # all servers that Cursor knows
  isthmus serve --listen stdio --upstream https://example.com/mcp     # a remote server, for a host that only launches
  isthmus serve --listen unix:/run/files.sock -- mcp-server-filesystem /srv
  isthmus serve --host 0.0.0.0 --api-key "$KEY" -- some-server        # for others, who have to say who they are
  isthmus serve --upstream tcp://127.0.0.1:4000 --upstream-protocol legacy
  isthmus serve --json -q --port 0 -- some-server                     # a free port, for scripts
  isthmus serve                                                       # the demo server

Exit codes:
  0    it was stopped (Ctrl-C, SIGTERM, the end of stdin), and what was running is finished
  1    it cannot listen there
  2    the command line or the configuration makes no sense
  3    the server behind cannot be started, or cannot be used; with stdio, also: it was never reached
  130  Ctrl-C a second time, or the time for the end was over: what was running was not waited for (143: SIGTERM)
`;
