// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the language of the shell.
import type { CompletedCommand, CompletedOption, Follows } from './model.js';

/** Nothing is handed to `compgen -W`, which would run what is in the name of a server. */
export function bashScript(commands: readonly CompletedCommand[]): string {
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
  # --option=value comes as three words.
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ \${COMP_WORDS[at]} == -- ]]; then
      if ((at + 1 == COMP_CWORD)); then _isthmus_files -c; else _isthmus_files -f; fi
      return
    fi
    case "$path/\${COMP_WORDS[at]}" in
${commands
  .filter(({ path }) => path !== '')
  .map(toPath)
  .join('\n')}
    esac
  done
  case "$path $prev" in
${commands.flatMap(toValues).join('\n')}
  esac
  case "$path" in
${commands.map(toWords).join('\n')}
  esac
}
complete -F _isthmus isthmus
`;
}

/** `config check` is known by `/config/check`. */
function slashed(path: string): string {
  return path === '' ? '' : `/${path.replaceAll(' ', '/')}`;
}

function toPath({ path }: CompletedCommand): string {
  return `      "${slashed(path)}") path="${slashed(path)}" ;;`;
}

function toValues({ path, options }: CompletedCommand): readonly string[] {
  return options.flatMap((option) => {
    if (option.value.kind === 'nothing') return [];
    const names = namesOf(option).map((name) => `"${slashed(path)} ${name}"`);
    return [`    ${names.join(' | ')}) ${follow(option.value)} return ;;`];
  });
}

function toWords({ path, options, commands, words }: CompletedCommand): string {
  const flags = offer(options.flatMap(namesOf));
  const names = commands.map(({ name }) => name);
  const other = names.length > 0 ? `${offer(names)};` : follow(words);
  return `    "${slashed(path)}") if [[ $cur == -* ]]; then ${flags}; else ${other || ':;'} fi ;;`;
}

function follow(follows: Follows): string {
  switch (follows.kind) {
    case 'files':
      return '_isthmus_files -f;';
    case 'folders':
      return '_isthmus_files -d;';
    case 'choices':
      return `${offer(follows.choices)};`;
    case 'servers':
      return '_isthmus_offer < <("${COMP_WORDS[0]}" completion names -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null);';
    default:
      return '';
  }
}

function offer(words: readonly string[]): string {
  return `_isthmus_offer < <(printf '%s\\n' ${words.map((word) => `'${word}'`).join(' ')})`;
}

function namesOf({ long, short }: CompletedOption): string[] {
  return [long, short].filter((name) => name !== undefined);
}
