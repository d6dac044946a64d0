/** The version of every package of this repository. */
export const VERSION = '0.1.0';
