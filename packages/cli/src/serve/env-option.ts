import { Option } from 'commander';

/** An option that a variable can stand for; one that is set to nothing does not count. */
export function env<T>(
  flags: string,
  description: string,
  variable: string,
  parse?: (text: string, before: T) => T,
): Option {
  const option = new Option(flags, description);
  if (parse) option.argParser(parse);
  const name = `ISTHMUS_${variable}`;
  return process.env[name] === '' ? option : option.env(name);
}
