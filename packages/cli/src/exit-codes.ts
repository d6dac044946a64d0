/** What the code of a finished command means. Scripts rely on it: docs/cli.md has the same table. */
export const EXIT = {
  ok: 0,
  /**
   * The tool ran and failed (`isError`); every request of `bench` did; `check` found something broken. Also what
   * `serve` and `demo` end with when they cannot listen, and `status` and `doctor` when something is not well.
   */
  failed: 1,
  usage: 2,
  /** To the server, or there is no gateway to ask. */
  cannotConnect: 3,
  /** The server refused the request, answered nonsense, not in time, or went away. */
  protocol: 4,
  /** Ctrl-C, as shells have it: 128 and the number of the signal. */
  interrupted: 130,
  terminated: 143,
} as const;

export const EXIT_HELP = `
Exit codes:
  0  it worked
  1  the tool ran and reported an error (isError); check, check-client: something is broken; bench: every request failed; serve, demo: cannot listen; status, doctor: something is not well
  2  the command line, or the configuration file, makes no sense
  3  cannot connect to the server; status and the like: no gateway is running
  4  the server refused the request, did not answer it properly or in time, or went away
  130  interrupted by Ctrl-C (143: by SIGTERM)`;
