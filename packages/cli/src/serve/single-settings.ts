import type { ServeCommandOptions } from './serve-options.js';
import type { SingleSettings } from './server-of-target.js';

/** What was typed about the server itself, resolved; who shares a process is decided elsewhere. */
export function settingsOf(options: ServeCommandOptions): Omit<SingleSettings, 'processes'> {
  const {
    upstreamProtocol: mode,
    statelessServer: stateless = false,
    transport,
    passEnvironment = false,
  } = options;
  return {
    mode,
    stateless,
    name: options.name,
    timeoutMs: options.timeout,
    connectTimeoutMs: options.connectTimeout,
    cwd: options.cwd,
    env: options.env,
    passEnvironment,
    header: options.header,
    sse: transport && SSE[transport],
    ignoredTools: options.ignoreTool,
    maxConcurrent: options.maxConcurrent,
    maxParked: options.maxParked,
  };
}

const SSE = { 'http-first': 'auto', 'http-only': 'never', 'sse-only': 'only' } as const;
