import { CLIENT_CHECKS } from '@isthmus/check/internal/client/catalogue.js';
import { CLIENT_SUITES } from '@isthmus/check/internal/client/model.js';
import { SCENARIOS } from '@isthmus/check/internal/client/scenarios/index.js';
import { levelInWords } from '@isthmus/check/internal/rules/index.js';
import type { Terminal } from '../terminal/terminal.js';

/** What `--only` can name: the servers that a client is shown, and what is looked at. */
export function renderLists({ out }: Pick<Terminal, 'out'>): string {
  const wide = Math.max(
    ...[...CLIENT_CHECKS.map(({ id }) => id), ...SCENARIOS.map(({ name }) => name)].map(
      ({ length }) => length,
    ),
  );
  const servers = SCENARIOS.map(
    ({ name, title, over }) => `  ${name.padEnd(wide)}  ${over.join(', ').padEnd(11)}  ${title}`,
  );
  const parts = CLIENT_SUITES.map((suite) => {
    const own = CLIENT_CHECKS.filter((check) => check.suite === suite);
    const lines = own.map(
      ({ id, level, rules, title }) =>
        `  ${id.padEnd(wide)}  ${levelInWords({ level, rules }).padEnd(16)}  ${title}`,
    );
    return `${out.bold(suite)} (${own.length})\n${lines.join('\n')}`;
  });
  const all = [`${out.bold('servers')} (${SCENARIOS.length})\n${servers.join('\n')}`, ...parts];
  return `${all.join('\n\n')}\n\n${CLIENT_CHECKS.length} checks\n`;
}
