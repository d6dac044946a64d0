/** Installs the dependencies of package-lock.json, or of that in a folder of the checkout, unless they are there. */
export function ensureInstalled(folder?: string): Promise<void>;

/** Compiles src/ to dist/ unless dist/ already is what src/ compiles to. */
export function ensureBuilt(): Promise<void>;

/** Runs a script's body; a failure becomes one message on stderr and a non-zero exit code. */
export function runMain(body: () => Promise<void>): Promise<void>;
