/** Installs the dependencies of package-lock.json unless they are already there. */
export function ensureInstalled(): Promise<void>;

/** Compiles src/ to dist/ unless dist/ already is what src/ compiles to. */
export function ensureBuilt(): Promise<void>;

/** Runs a script's body; a failure becomes one message on stderr and a non-zero exit code. */
export function runMain(body: () => Promise<void>): Promise<void>;
