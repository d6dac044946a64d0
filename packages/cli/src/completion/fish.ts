import type { CompletedCommand, CompletedOption, Follows } from './model.js';

export function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [slashed(path)]));
  return `# isthmus completion fish
function __isthmus_path
    set -l path ''
    for word in (commandline -opc)[2..-1]
        if test "$word" = --
            echo behind
            return
        end
        if contains -- "$path/$word" ${paths.join(' ')}
            set path "$path/$word"
        end
    end
    echo "at$path"
end
function __isthmus_at
    test (__isthmus_path) = "at$argv[1]"
end
function __isthmus_names
    set -l words (commandline -opc)
    $words[1] completion names -- $words[2..-1] 2>/dev/null
end
complete -c isthmus -f
complete -c isthmus -n 'test (__isthmus_path) = behind' -a '(__fish_complete_subcommand --fcs-skip=(count (commandline -opc)))' -F
${commands.flatMap(toLines).join('\n')}
`;
}

function slashed(path: string): string {
  return path === '' ? '' : `/${path.replaceAll(' ', '/')}`;
}

function toLines({ path, options, commands, words }: CompletedCommand): readonly string[] {
  const at = `complete -c isthmus -n ${quoted(`__isthmus_at '${slashed(path)}'`)}`;
  const follow = commands.length > 0 ? '' : following(words);
  return [
    ...commands.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
    ...options.map((option) => `${at}${flags(option)} -d ${quoted(option.description)}`),
    ...(follow === '' ? [] : [`${at}${follow}`]),
  ];
}

function flags({ long, short, value }: CompletedOption): string {
  const names = [long && ` -l ${long.slice(2)}`, short && ` -s ${short.slice(1)}`].filter(Boolean).join('');
  if (value.kind === 'nothing') return names;
  return `${names} -${value.kind === 'files' ? 'r' : 'x'}${following(value)}`;
}

function following(follows: Follows): string {
  switch (follows.kind) {
    case 'files':
      return ' -F';
    case 'folders':
      return ` -a ${quoted('(__fish_complete_directories)')}`;
    case 'choices':
      return ` -a ${quoted(follows.choices.join(' '))}`;
    case 'servers':
      return ` -a ${quoted('(__isthmus_names)')}`;
    default:
      return '';
  }
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, (character) => `\\${character}`)}'`;
}
