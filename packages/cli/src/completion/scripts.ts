// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shells have the same syntax.
import type { CompletedCommand, CompletedOption, Completes } from './model.js';

/**
 * The scripts are complete: a key press starts the program only where names of servers are wanted. They never use
 * `compgen -W` or `eval`, which would run what is in the name of a server.
 */
export const SCRIPTS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

function bashScript(commands: readonly CompletedCommand[]): string {
  const complete = (what: Completes): string => {
    switch (what.kind) {
      case 'files':
        return '_isthmus_files -f;';
      case 'folders':
        return '_isthmus_files -d;';
      case 'choices':
        return `${offer(what.choices)};`;
      case 'servers':
        return '_isthmus_offer < <("${COMP_WORDS[0]}" completion names -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null);';
      default:
        return '';
    }
  };
  const offer = (items: readonly string[]) =>
    `_isthmus_offer < <(printf '%s\\n' ${items.map((item) => `'${item}'`).join(' ')})`;
  const caseOf = ({ path, options, commands: below, argument }: CompletedCommand) => {
    const flags = offer(options.flatMap(namesOf));
    const other = below.length > 0 ? `${offer(below.map(({ name }) => name))};` : complete(argument);
    return `    "${pathOf(path)}") if [[ $cur == -* ]]; then ${flags}; else ${other || ':;'} fi ;;`;
  };
  return `# isthmus completion bash
_isthmus_offer() {
  local word
  while IFS= read -r word; do
    [[ -n $word && $word == "$cur"* ]] && COMPREPLY+=("$word")
  done
}
_isthmus_files() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$1" -- "$cur")
  compopt -o filenames 2>/dev/null
}
_isthmus() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" at
  COMPREPLY=()
  # bash splits --option=value into three words.
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ \${COMP_WORDS[at]} == -- ]]; then
      if ((at + 1 == COMP_CWORD)); then _isthmus_files -c; else _isthmus_files -f; fi
      return
    fi
    case "$path/\${COMP_WORDS[at]}" in
${pathCases(commands, 'path')}
    esac
  done
  case "$path $prev" in
${optionCases(commands, complete)}
  esac
  case "$path" in
${commands.map(caseOf).join('\n')}
  esac
}
complete -F _isthmus isthmus
`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const complete = (what: Completes): string => {
    switch (what.kind) {
      case 'files':
        return '_files;';
      case 'folders':
        return '_files -/;';
      case 'choices':
        return `compadd -- ${what.choices.map(quoted).join(' ')};`;
      case 'servers':
        return 'compadd -- ${(f)"$("${words[1]}" completion names -- "${(@)words[2,CURRENT-1]}" 2>/dev/null)"};';
      default:
        return '';
    }
  };
  // zsh wants `name:description`, with the colons of the name escaped.
  const described = (name: string, description: string) =>
    quoted(`${name.replaceAll(':', '\\:')}:${description}`);
  const describeAll = (what: string, items: readonly string[]) =>
    `offered=(${items.join(' ')}); _describe ${what} offered;`;
  const caseOf = ({ path, options, commands: below, argument }: CompletedCommand) => {
    const flags = options.flatMap((option) =>
      namesOf(option).map((name) => described(name, option.description)),
    );
    const names = below.map(({ name, description }) => described(name, description));
    const other = names.length > 0 ? describeAll('command', names) : complete(argument);
    return [
      `    "${pathOf(path)}")`,
      '      if [[ "${words[CURRENT]}" == -* ]]; then',
      `        ${describeAll('option', flags)}`,
      `      else ${other || ':;'} fi ;;`,
    ].join('\n');
  };
  return `#compdef isthmus
# isthmus completion zsh
_isthmus() {
  local prev="\${words[CURRENT-1]}" cmd="" at
  local -a offered
  for ((at = 2; at < CURRENT; at++)); do
    if [[ "\${words[at]}" == -- ]]; then
      if ((at + 1 == CURRENT)); then _command_names -e; else _files; fi
      return
    fi
    case "$cmd/\${words[at]}" in
${pathCases(commands, 'cmd')}
    esac
  done
  case "$cmd $prev" in
${optionCases(commands, complete)}
  esac
  case "$cmd" in
${commands.map(caseOf).join('\n')}
  esac
}
if [[ "\${funcstack[1]}" == _isthmus ]]; then _isthmus "$@"; else compdef _isthmus isthmus; fi
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, (character) => `\\${character}`)}'`;
  const complete = (what: Completes): string => {
    switch (what.kind) {
      case 'files':
        return ' -F';
      case 'folders':
        return ` -a ${quoted('(__fish_complete_directories)')}`;
      case 'choices':
        return ` -a ${quoted(what.choices.join(' '))}`;
      case 'servers':
        return ` -a ${quoted('(__isthmus_names)')}`;
      default:
        return '';
    }
  };
  const flags = ({ long, short, value }: CompletedOption) => {
    const names = [long && ` -l ${long.slice(2)}`, short && ` -s ${short.slice(1)}`].filter(Boolean).join('');
    if (value.kind === 'nothing') return names;
    return `${names} -${value.kind === 'files' ? 'r' : 'x'}${complete(value)}`;
  };
  const linesOf = ({ path, options, commands: below, argument }: CompletedCommand) => {
    const at = `complete -c isthmus -n ${quoted(`__isthmus_at '${pathOf(path)}'`)}`;
    const follows = below.length > 0 ? '' : complete(argument);
    return [
      ...below.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
      ...options.map((option) => `${at}${flags(option)} -d ${quoted(option.description)}`),
      ...(follows === '' ? [] : [`${at}${follows}`]),
    ];
  };
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [pathOf(path)]));
  return `# isthmus completion fish
function __isthmus_path
    set -l path ''
    for word in (commandline -opc)[2..-1]
        if test "$word" = --
            echo afterdashes
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
complete -c isthmus -n 'test (__isthmus_path) = afterdashes' -a '(__fish_complete_subcommand --fcs-skip=(count (commandline -opc)))' -F
${commands.flatMap(linesOf).join('\n')}
`;
}

/** `config check` is `/config/check` in the scripts. */
function pathOf(path: string): string {
  return path === '' ? '' : `/${path.replaceAll(' ', '/')}`;
}

/** Cases of bash and zsh that remember which command was typed. */
function pathCases(commands: readonly CompletedCommand[], variable: string): string {
  return commands
    .filter(({ path }) => path !== '')
    .map(({ path }) => `      "${pathOf(path)}") ${variable}="${pathOf(path)}" ;;`)
    .join('\n');
}

/** Cases of bash and zsh that complete the value of an option. */
function optionCases(commands: readonly CompletedCommand[], complete: (what: Completes) => string): string {
  const cases = commands.flatMap(({ path, options }) =>
    options.flatMap((option) => {
      if (option.value.kind === 'nothing') return [];
      const names = namesOf(option).map((name) => `"${pathOf(path)} ${name}"`);
      return [`    ${names.join(' | ')}) ${complete(option.value)} return ;;`];
    }),
  );
  return cases.join('\n');
}

function namesOf({ long, short }: CompletedOption): string[] {
  return [long, short].filter((name) => name !== undefined);
}
