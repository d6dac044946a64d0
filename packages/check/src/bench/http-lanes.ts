import { connect, type Socket } from 'node:net';
import { createAnswerReader, type HttpReply } from './http-answers.js';
import { SWEEP_MS } from './request.js';

/** The outcome of one request: a response, or why there is none. */
export type HttpOutcome =
  | { readonly kind: 'reply'; readonly reply: HttpReply }
  | { readonly kind: 'timed out' }
  | { readonly kind: 'lost'; readonly why: string };

type OnOutcome = (outcome: HttpOutcome) => void;

/** A keep-alive connection with one request at a time. */
interface Lane {
  readonly socket: Socket;
  onOutcome: OnOutcome | undefined;
  /** When the request was sent, or the last response was read to its end. */
  since: number;
  isWhole: boolean;
}

interface HttpLanes {
  /** Sends the text of an HTTP/1.1 request on a free connection, or on a new one. */
  send(text: string, onOutcome: OnOutcome): void;
  close(): void;
}

export function openHttpLanes(url: URL, timeoutMs: number): HttpLanes {
  const place = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80) };
  const idle: Lane[] = [];
  const all = new Set<Lane>();
  /** Connections whose event stream has had the answer, but is still open. */
  const lingering: Lane[] = [];
  const settle = (lane: Lane, outcome: HttpOutcome) => {
    const { onOutcome } = lane;
    lane.onOutcome = undefined;
    onOutcome?.(outcome);
  };
  const drop = (lane: Lane, outcome: HttpOutcome) => {
    all.delete(lane);
    leave(idle, lane);
    leave(lingering, lane);
    lane.socket.destroy();
    settle(lane, outcome);
  };
  const openLane = (): Lane => {
    const socket = connect(place);
    socket.setNoDelay(true);
    const lane: Lane = { socket, onOutcome: undefined, since: 0, isWhole: false };
    const reader = createAnswerReader({
      onReply(reply) {
        if (!lane.isWhole && lingering.push(lane) > MAX_LINGERING) drop(lingering[0]!, GIVEN_UP);
        settle(lane, { kind: 'reply', reply });
      },
      onWhole(mayFollow) {
        lane.since = performance.now();
        lane.isWhole = true;
        leave(lingering, lane);
        if (mayFollow) idle.push(lane);
        else {
          all.delete(lane);
          socket.destroy();
        }
      },
      onBroken: (why) => drop(lane, { kind: 'lost', why }),
    });
    let why = 'the server closed the connection before its answer';
    socket.on('data', reader.push);
    socket.on('end', reader.end);
    socket.on('error', (error) => {
      why = error.message;
    });
    socket.on('close', () => drop(lane, { kind: 'lost', why }));
    all.add(lane);
    return lane;
  };
  const takeLane = (now: number): Lane => {
    for (let lane = idle.pop(); lane; lane = idle.pop()) {
      // The server may soon close a connection that was idle for long. A request on it would be lost.
      if (now - lane.since < IDLE_MS) return lane;
      all.delete(lane);
      lane.socket.destroy();
    }
    return openLane();
  };
  const sweep = setInterval(() => {
    const old = performance.now() - timeoutMs;
    for (const lane of all) if (lane.onOutcome && lane.since < old) drop(lane, { kind: 'timed out' });
  }, SWEEP_MS);
  sweep.unref();
  return {
    send(text, onOutcome) {
      const now = performance.now();
      const lane = takeLane(now);
      lane.onOutcome = onOutcome;
      lane.since = now;
      lane.isWhole = false;
      lane.socket.write(text);
    },
    close() {
      clearInterval(sweep);
      for (const lane of all) lane.socket.destroy();
    },
  };
}

const GIVEN_UP: HttpOutcome = { kind: 'lost', why: 'the stream was left open' };

function leave(lanes: Lane[], lane: Lane): void {
  const at = lanes.indexOf(lane);
  if (at >= 0) lanes.splice(at, 1);
}

/** How many event streams may stay open after their answer. */
const MAX_LINGERING = 16;
/** Less than the 5 s for which Node keeps idle connections, the shortest usual time. */
const IDLE_MS = 4000;
