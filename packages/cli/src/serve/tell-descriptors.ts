import { watchDescriptors } from '@isthmus/sdk/internal/process/process-facts.js';

/** Tells whoever runs a gateway that it can open no more files, which nothing else would tell. */
export function tellDescriptors(say: (line: string) => void): void {
  watchDescriptors(({ open, limit }, isScarce) =>
    say(
      isScarce
        ? `${open} of ${limit} file descriptors are in use: new connections are closed, and servers cannot be started, when none is left. Raise the limit (ulimit -n, LimitNOFILE= in systemd), or lower --max-sessions`
        : `${open} of ${limit} file descriptors are in use: there is room again`,
    ),
  );
}
