import type { Command } from 'commander';
import { actionCommand } from '../control/act.js';

export function stopCommand(): Command {
  return actionCommand('stop', {
    description: 'Switch a server of the running gateway off; calls that are running are finished first.',
    help: `
Calls to it are refused until isthmus start. A gateway that is started anew starts it, too: to keep it off, write
"disabled": true into its file.

Example:
  isthmus stop weather
`,
  });
}
