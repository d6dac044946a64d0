import type { Command } from 'commander';
import type { GivenOptions } from '../../choose-target.js';
import { clientCommand } from '../../common-options.js';
import type { ReplayCommandOptions } from '../../replay/run-replay.js';

export function replayCommand(afterDashes: readonly string[] | undefined): Command {
  return clientCommand('replay', '', {
    description: 'Send the frames of a trace file to a server again, and compare its answers with the file.',
    usage: 'FILE.mcptrace',
    help: [HELP],
    examples: [
      'isthmus replay failure.mcptrace -- node my-server.js',
      'isthmus replay failure.mcptrace https://example.com/mcp --json',
      'isthmus replay failure.mcptrace --config .mcp.json weather --shape',
    ],
    failed: 'an answer differs from the file',
    without: ['--era'],
  })
    .option('--shape', 'compare members and types only, not values')
    .option('--server <name>', 'the server whose frames are sent, for a file of a gateway')
    .action(async (args: string[], given: GivenOptions<ReplayCommandOptions>) => {
      const { runReplay } = await import('../../replay/run-replay.js');
      await runReplay(args, afterDashes, given);
    });
}

const HELP = `
The frames of the client leave in their order, each after the answers that the file has before it. A question of the
server gets the answer of the file. Cursors, the state of a round and ids of tasks are those of the new answers. Ids,
times and values that were removed from the file are not compared, and neither are notifications.`;
