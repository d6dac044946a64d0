/**
 * The time that `work` took on a processor, in milliseconds: unlike that on the wall it does not grow when others
 * want the processor, too.
 */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
