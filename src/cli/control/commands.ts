import type { Command } from 'commander';
import { doctorCommand } from '../commands/doctor.js';
import { logsCommand } from '../commands/logs.js';
import { reloadCommand } from '../commands/reload.js';
import { restartCommand } from '../commands/restart.js';
import { startCommand } from '../commands/start.js';
import { statusCommand } from '../commands/status.js';
import { stopCommand } from '../commands/stop.js';

/** The commands for a gateway that is running. */
export function controlCommands(): Command[] {
  return [
    statusCommand(),
    logsCommand(),
    restartCommand(),
    stopCommand(),
    startCommand(),
    reloadCommand(),
    doctorCommand(),
  ];
}
