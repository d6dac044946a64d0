type Folder = 'sdk' | 'gateway' | 'check' | 'console' | 'cli';
interface Packed {
  readonly folder: Folder;
  readonly name: string;
  readonly needs: readonly Folder[];
}

/** In the order in which they are published. */
export const PACKAGES: readonly Packed[];

/** The tarball of each package, by its folder. */
export function packAll(folder: string): Promise<Map<string, string>>;

/** The path of a project with one of the packages, and with those that it needs. */
export function installAlone(
  folder: string,
  wanted: Packed,
  tarballs: ReadonlyMap<string, string>,
): Promise<string>;

/** Rejects when the package does not do what it is for. */
export function smoke(project: string, own: Folder): Promise<void>;

/** The output; rejects when the command fails. */
export function succeed(command: string, args: readonly string[], cwd: string): Promise<string>;
