import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** A tool that has a user interface (MCP Apps), or that a user interface calls. */
export interface AppTool {
  readonly name: string;
  /** The address of the user interface that shows its results. */
  readonly view: string | undefined;
  /** Models are not offered the tool. Only the user interface calls it. */
  readonly isOnlyForApp: boolean;
}

/** The tools of a list that have to do with user interfaces. */
export function appToolsOf(tools: readonly { readonly name: string; readonly _meta?: unknown }[]): AppTool[] {
  return tools.flatMap(({ name, _meta }) => {
    const meta = isJsonObject(_meta) ? _meta : {};
    const ui = isJsonObject(meta['ui']) ? meta['ui'] : {};
    const view = ui['resourceUri'] ?? meta['ui/resourceUri'];
    const { visibility } = ui;
    const isOnlyForApp =
      Array.isArray(visibility) && visibility.includes('app') && !visibility.includes('model');
    if (typeof view !== 'string' && !isOnlyForApp) return [];
    return [{ name: String(name), view: typeof view === 'string' ? view : undefined, isOnlyForApp }];
  });
}
