import type { HostEvent } from '../host/host-event.js';
import type { LogLine } from './log-tail.js';
import { StderrLines } from './telemetry/stderr-lines.js';

/** Makes lines of what a host reports. What a process is in the middle of writing is held until its line ends. */
export function createHostLines(): (event: HostEvent) => LogLine[] {
  const stderr = new StderrLines();
  return (event) => {
    const { server, at } = event;
    const { pid, generation } = event as { readonly pid?: number; readonly generation?: number };
    const line = (source: LogLine['source'], text: string, level?: string): LogLine => ({
      ...{ server, at, source, text },
      ...(level !== undefined && { level }),
      ...(pid !== undefined && { pid }),
      ...(generation !== undefined && { generation }),
    });
    const writer = `${server} ${generation} ${pid}`;
    if (event.kind === 'stderr') return stderr.add(writer, event.text).map((text) => line('stderr', text));
    if (event.kind === 'log') {
      const { level, logger, data } = event.entry;
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return [line('log', logger ? `${logger}: ${text}` : text, level)];
    }
    const last = event.kind === 'exit' ? stderr.end(writer).map((text) => line('stderr', text)) : [];
    const told = describe(event);
    return told ? [...last, line('gateway', told.text, told.level)] : last;
  };
}

/** What somebody who reads the log of a server wants to know of its process. */
function describe(event: HostEvent): { readonly text: string; readonly level: string } | undefined {
  switch (event.kind) {
    case 'start':
      return { level: 'info', text: `process ${event.generation} is being started` };
    case 'ready':
      return {
        level: 'info',
        text: `ready after ${Math.round(event.ms)} ms; it speaks the ${event.era} era`,
      };
    case 'exit':
      return event.expected
        ? { level: 'info', text: 'the process has ended, as it was told to' }
        : { level: 'error', text: event.reason };
    case 'restart':
      return {
        level: 'warning',
        text: `started again in ${Math.round(event.delayMs)} ms (attempt ${event.attempt})`,
      };
    case 'crash-loop':
      return {
        level: 'error',
        text: `ended ${event.attempts + 1} times in a row; it is not started again by itself: ${event.reason}`,
      };
    case 'kill':
      return { level: 'warning', text: `the process had to be killed: ${event.why}` };
    case 'drain':
      return { level: 'info', text: `takes no new calls: ${event.why}` };
    default:
      return undefined;
  }
}
