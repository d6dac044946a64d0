import type { Command } from 'commander';
import { actionCommand } from '../control/act.js';

export function startCommand(): Command {
  return actionCommand('start', {
    description: 'Switch a server of the running gateway on again, after isthmus stop.',
    help: `
Also one that is disabled in the configuration, until the gateway ends.

Example:
  isthmus start weather
`,
  });
}
