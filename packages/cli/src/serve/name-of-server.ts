import { basename } from 'node:path';

/** What a command is called in lines about it: `npx -y weather-server --verbose` is weather-server. */
export function nameOfServer(command: string, args: readonly string[]): string {
  const launcher = LAUNCHER.exec(basename(command))?.[1];
  const [inside, ...rest] =
    /^(ba)?sh$/.test(launcher ?? '') && args[0] === '-c' ? wordsOf(args[1] ?? '') : [];
  if (inside !== undefined) return nameOfServer(inside, rest);
  const word = launcher === undefined ? command : (programOf(launcher, args) ?? command);
  const name = shortName(word);
  // By itself the name would read as if we had stopped.
  if (!/^isthmus(\.js)?$/.test(name)) return name;
  const ours = launcher === undefined ? args : args.slice(args.indexOf(word) + 1);
  return ['isthmus', ...ours.filter((each) => /^\w+$/.test(each)).slice(0, 1)].join(' ');
}

/** What a shell is to start, as far as it begins with that: `KEY=1 exec some-server …`. */
function wordsOf(text: string): string[] {
  return text
    .replace(/^((\w+=\S*|exec)\s+)+/, '')
    .split(/\s+/)
    .filter((word) => /^[\w@%+=:,./-]+$/.test(word));
}

const LAUNCHER = /^(node|npx|bunx?|deno|uvx?|python|pipx|sh|bash)[\d.]*(?:\.exe|\.cmd)?$/;

/** The first word that is neither an option, nor the value of one, nor what the launcher is to do. */
function programOf(launcher: string, args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (launcher === 'python' && word === '-m') return args[at + 1];
    // What follows is the text of a program, not its name.
    if (TEXT.test(word)) return undefined;
    if (HAS_VALUE.test(word)) at += 1;
    else if (!word.startsWith('-') && !(HAS_VERBS.test(launcher) && VERB.test(word))) return word;
  }
  return undefined;
}

const TEXT = /^(-e|-c|-m|--eval|--print|--call|eval)$/;
const HAS_VALUE =
  /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|-p|--package|--from|--with|--python|--directory|--project|-W|-X)$/;
const HAS_VERBS = /^(bun|deno|uv|pipx)$/;
const VERB = /^(run|x|tool|exec)$/;

/** Many a program is called index.js: then the folder says more. */
function shortName(word: string): string {
  const parts = word.split(/[\\/]/).filter(Boolean);
  const telling = parts.findLast((part) => !UNTELLING.test(part));
  const last = parts.at(-1) ?? word;
  return UNTELLING.test(last) && telling !== undefined && !/^\.+$/.test(telling) ? telling : last;
}

const UNTELLING = /^((index|main|cli)\.[cm]?[jt]s|__main__\.py|dist|build|bin|lib|src|out)$/;
