import type { Command } from 'commander';
import { actionCommand } from '../control/act.js';

export function restartCommand(): Command {
  return actionCommand('restart', {
    description:
      'Give a server of the running gateway a fresh process; calls that are running are finished first.',
    help: `
One that has crashed too often is started again at once. Clients stay connected. Of a remote server, what is known
is asked for anew.

Example:
  isthmus restart weather
`,
  });
}
