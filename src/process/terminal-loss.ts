import { isatty } from 'node:tty';

/**
 * SIGHUP has two meanings: "read your configuration again" from an operator, and "your terminal is gone" from the
 * system. Remembers which of our streams are terminals; the returned function says whether one of them is gone. What
 * never had a terminal (a service, a child of a host, a program under `nohup`) never loses one.
 */
export function watchTerminal(): () => boolean {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  // The system takes the terminal away before it sends the signal, and then the descriptor is not a terminal any more.
  return () => terminals.some((descriptor) => !isatty(descriptor));
}
