import { Command } from 'commander';
import { bashScript } from '../completion/bash.js';
import { fishScript } from '../completion/fish.js';
import { type CompletedCommand, completedCommands } from '../completion/model.js';
import { zshScript } from '../completion/zsh.js';

/** `all` are the commands of the program, this one included. */
export function completionCommand(all: () => Promise<readonly Command[]>): Command {
  const completion = new Command('completion')
    .description('Print what a shell needs to complete commands, options and names of servers.')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus completion --help explains the options)')
    .exitOverride();
  for (const [shell, script] of Object.entries(SCRIPTS)) {
    completion
      .command(shell)
      .description(`for ${shell}`)
      .action(async () => {
        process.stdout.write(script(completedCommands(await all())));
      });
  }
  completion
    .command('names', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: string[]) => {
      const { serverNames } = await import('../completion/server-names.js');
      // Whoever presses a key is not helped by an error.
      const names = await serverNames(words).catch(() => []);
      process.stdout.write(names.map((name) => `${name}\n`).join(''));
    });
  return completion;
}

const SCRIPTS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

const HELP = `
Names of servers are those of --config FILE, of ISTHMUS_CONFIG, and of the gateways that are running.

Examples:
  isthmus completion bash >> ~/.bash_completion
  isthmus completion zsh > "\${fpath[1]}/_isthmus"
  isthmus completion fish > ~/.config/fish/completions/isthmus.fish
  source <(isthmus completion bash)                                     # for this shell only
`;
