/** Every error code that MCP defines. `-32000…-32019` has no fixed meaning; Isthmus never sends it. */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** Modern, HTTP: a routing header is missing, malformed or differs from the body. */
  HeaderMismatch: -32020,
  /** Modern: `data.requiredCapabilities` names what the client did not declare. */
  MissingClientCapability: -32021,
  /** Modern: `data.supported` and `data.requested`. */
  UnsupportedProtocolVersion: -32022,
  /** Legacy only: resource not found. Modern uses InvalidParams with `data.uri`. */
  LegacyResourceNotFound: -32002,
  /** 2025-11-25 only: the call needs a URL elicitation first. */
  LegacyUrlElicitationRequired: -32042,
} as const;
