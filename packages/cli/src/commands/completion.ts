import { Command } from 'commander';

/** `all` returns the commands of the program, this one included. */
export function completionCommand(all: () => Promise<readonly Command[]>): Command {
  const completion = new Command('completion')
    .description('Print a script that completes commands, options and names of servers in a shell.')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus completion --help explains the options)')
    .exitOverride();
  for (const shell of ['bash', 'zsh', 'fish']) {
    completion
      .command(shell)
      .description(`for ${shell}`)
      .action(async () => {
        const { SCRIPTS } = await import('../completion/scripts.js');
        const { completedCommands } = await import('../completion/model.js');
        process.stdout.write(SCRIPTS[shell]!(completedCommands(await all())));
      });
  }
  completion
    .command('names', { hidden: true })
    .argument('[args...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args: string[]) => {
      const { serverNames } = await import('../completion/server-names.js');
      // An error would be printed into the line that the user types.
      const names = await serverNames(args).catch(() => []);
      process.stdout.write(names.map((name) => `${name}\n`).join(''));
    });
  return completion;
}

const HELP = `
Names of servers come from --config FILE, from ISTHMUS_CONFIG, and from running gateways.

Examples:
  isthmus completion bash >> ~/.bash_completion
  isthmus completion zsh > "\${fpath[1]}/_isthmus"
  isthmus completion fish > ~/.config/fish/completions/isthmus.fish
  source <(isthmus completion bash)                                     # for this shell only
`;
