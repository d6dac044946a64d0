// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the language of the shell.
import type { CompletedCommand, CompletedOption, Follows } from './model.js';

export function zshScript(commands: readonly CompletedCommand[]): string {
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
${commands
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      "${slashed(path)}") cmd="${slashed(path)}" ;;`)
  .join('\n')}
    esac
  done
  case "$cmd $prev" in
${commands.flatMap(toValues).join('\n')}
  esac
  case "$cmd" in
${commands.map(toWords).join('\n')}
  esac
}
if [[ "\${funcstack[1]}" == _isthmus ]]; then _isthmus "$@"; else compdef _isthmus isthmus; fi
`;
}

function slashed(path: string): string {
  return path === '' ? '' : `/${path.replaceAll(' ', '/')}`;
}

function toValues({ path, options }: CompletedCommand): readonly string[] {
  return options.flatMap((option) => {
    if (option.value.kind === 'nothing') return [];
    const names = namesOf(option).map((name) => `"${slashed(path)} ${name}"`);
    return [`    ${names.join(' | ')}) ${follow(option.value)} return ;;`];
  });
}

function toWords({ path, options, commands, words }: CompletedCommand): string {
  const flags = options.flatMap((option) =>
    namesOf(option).map((name) => described(name, option.description)),
  );
  const names = commands.map(({ name, description }) => described(name, description));
  const other = names.length > 0 ? describeAll('command', names) : follow(words);
  return [
    `    "${slashed(path)}")`,
    '      if [[ "${words[CURRENT]}" == -* ]]; then',
    `        ${describeAll('option', flags)}`,
    `      else ${other || ':;'} fi ;;`,
  ].join('\n');
}

function describeAll(what: string, items: readonly string[]): string {
  return `offered=(${items.join(' ')}); _describe ${what} offered;`;
}

/** `name:description`, where colons of the name are marked. */
function described(name: string, description: string): string {
  return quoted(`${name.replaceAll(':', '\\:')}:${description}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function follow(follows: Follows): string {
  switch (follows.kind) {
    case 'files':
      return '_files;';
    case 'folders':
      return '_files -/;';
    case 'choices':
      return `compadd -- ${follows.choices.map(quoted).join(' ')};`;
    case 'servers':
      return 'compadd -- ${(f)"$("${words[1]}" completion names -- "${(@)words[2,CURRENT-1]}" 2>/dev/null)"};';
    default:
      return '';
  }
}

function namesOf({ long, short }: CompletedOption): string[] {
  return [long, short].filter((name) => name !== undefined);
}
