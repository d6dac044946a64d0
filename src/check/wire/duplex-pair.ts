import { Duplex } from 'node:stream';

/** Two ends of one connection: what is written to one is read from the other. Either may end alone. */
export function duplexPair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const end = (index: 0 | 1): Duplex => {
    let wanted: (() => void) | undefined;
    const duplex = new Duplex({
      allowHalfOpen: true,
      read() {
        const action = wanted;
        // Forgotten before it is called: what it writes may have to wait again.
        wanted = undefined;
        action?.();
      },
      write(chunk: Buffer, _encoding, done) {
        const other = ends[1 - index]!;
        if (other.destroyed || other.push(chunk)) done();
        else (other as Waiting).whenWanted(() => done());
      },
      final(done) {
        const other = ends[1 - index]!;
        if (!other.destroyed) other.push(null);
        done();
      },
      destroy(error, done) {
        const other = ends[1 - index];
        if (other && !other.destroyed && !other.readableEnded)
          setImmediate(() => other.destroyed || other.push(null));
        wanted?.();
        done(error);
      },
    });
    return Object.assign(duplex, {
      whenWanted(action: () => void) {
        wanted = action;
      },
    });
  };
  ends.push(end(0), end(1));
  return [ends[0]!, ends[1]!];
}

type Waiting = Duplex & { whenWanted(action: () => void): void };
