import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** The reserved `_meta` keys (wire sheet §2). */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  /** 2025-11-25 only: the task that a message belongs to. */
  relatedTask: 'io.modelcontextprotocol/related-task',
  /** 2025-11-25 only: what a model may be told while a task runs. */
  immediateResponse: 'io.modelcontextprotocol/model-immediate-response',
  /** A draft of the modern era: tasks that a request has to do with. */
  relatedTaskIds: 'io.modelcontextprotocol/relatedTaskIds',
} as const;

/** True if a request claims to be modern, valid or not. */
export function claimsModern(params: JsonObject | undefined): boolean {
  const meta = params?.['_meta'];
  return isJsonObject(meta) && meta[META.protocolVersion] !== undefined;
}
