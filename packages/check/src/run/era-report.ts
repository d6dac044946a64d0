import type { EraReport } from '../model.js';
import type { Facts } from '../survey/facts.js';

/** What the report says of an era. */
export function toEraReport(facts: Facts): EraReport {
  const { era, revision, capabilities, serverInfo, tools, resources, prompts } = facts;
  return {
    era,
    revision,
    ...(serverInfo && {
      server: { name: String(serverInfo['name'] ?? ''), version: String(serverInfo['version'] ?? '') },
    }),
    capabilities: Object.keys(capabilities),
    tools: tools.length,
    resources: resources.length,
    prompts: prompts.length,
  };
}
