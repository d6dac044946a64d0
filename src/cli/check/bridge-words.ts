import { splitCommand } from '../habits/split-command.js';

/**
 * The words of `--through`. What stands for the target and the port is no syntax of a shell, although it looks like it;
 * where it does not name the target, that comes last.
 */
export function bridgeWords(
  text: string,
  isCommand: boolean,
  platform = process.platform,
): readonly string[] {
  const isNamed = /\{(command(\.\.\.)?|url)\}/.test(text);
  const whole = isNamed ? text : `${text} ${isCommand ? '-- {command...}' : '{url}'}`;
  const hidden = PLACES.reduce((line, place, at) => line.replaceAll(place, mark(at)), whole);
  const words = splitCommand(text.trim() === '' ? text : hidden, '--through', platform);
  return words.map((word) => PLACES.reduce((shown, place, at) => shown.replaceAll(mark(at), place), word));
}

const PLACES = ['{command...}', '{command}', '{url}', '{port}'];

/** A character for private use: nobody types it, and no shell minds it. */
function mark(at: number): string {
  return String.fromCharCode(0xe000 + at);
}
