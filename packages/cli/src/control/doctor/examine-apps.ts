import { allowsTool, type ToolLists } from '@isthmus/sdk/internal/config/server-spec.js';
import type { AppTool } from '../../probe/app-tools.js';
import type { Oddity } from '../../probe/oddities.js';
import { oneLine } from '../../terminal/text.js';
import type { Diagnosis } from './diagnosis.js';

/** Tools that a user interface calls, and that the lists of the file hide. Without them it does not work. */
export function hiddenAppTools(tools: readonly AppTool[], lists: ToolLists | undefined): Oddity[] {
  if (!lists) return [];
  const offered = tools.filter(({ name, view }) => view !== undefined && allowsTool(lists, name));
  const hidden = tools.filter(({ name, isOnlyForApp }) => isOnlyForApp && !allowsTool(lists, name));
  if (hidden.length === 0 || offered.length === 0) return [];
  const names = (each: readonly AppTool[]) => each.map(({ name }) => oneLine(name)).join(', ');
  const message =
    `"tools" of its definition hides ${names(hidden)}, which models are not offered, but which the user ` +
    `interface of ${names(offered)} calls. Allow ${hidden.length === 1 ? 'it' : 'them'}, or hide the tools with the interface, too`;
  return [{ code: 'app-tool-hidden', message }];
}

/** Notes the user interfaces of each server, and names those that have the same address as one of an earlier server. */
export class SeenViews {
  readonly #servers = new Map<string, string>();

  note(diagnosis: Diagnosis): Diagnosis {
    const { name, views = [] } = diagnosis;
    const shared = views.flatMap((view) => {
      const owner = this.#servers.get(view) ?? name;
      this.#servers.set(view, owner);
      return owner === name ? [] : [{ view, owner }];
    });
    if (shared.length === 0) return diagnosis;
    const odd = shared.map(({ view, owner }): Oddity => {
      const [scheme, rest] = view.split(/:\/\/(.*)/s);
      const message =
        `Its user interface ${oneLine(view)} has the same address as one of ${oneLine(owner)}. Where both are served ` +
        `at one address, this one is shown as ${oneLine(`${scheme}://${encodeURIComponent(name)}~/${rest}`)}`;
      return { code: 'app-view-shared', message };
    });
    return { ...diagnosis, odd: [...diagnosis.odd, ...odd] };
  }
}
