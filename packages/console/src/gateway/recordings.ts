import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { CallRow, RecordingRequest, RecordingView } from '../contract.js';
import type { FrameRing } from '../frames/ring.js';
import { ConsoleError, notFound } from '../http/console-error.js';
import { Announcer } from '../stores/announcer.js';

export interface RecordingsOptions {
  readonly clock: Clock;
  readonly ring: FrameRing;
  readonly isAllowed: boolean;
  note(line: string): void;
}

/** Keeps the payloads of clients for a while, when somebody asks for it. One recording at a time. */
export class Recordings {
  readonly changes = new Announcer<RecordingView>();
  readonly #options: RecordingsOptions;
  readonly #all = new Map<number, RecordingView>();
  #current: RecordingView | undefined;
  #callOff: () => void = () => {};
  #from = 0;

  constructor(options: RecordingsOptions) {
    this.#options = options;
  }

  get current(): RecordingView | undefined {
    return this.#current;
  }

  isOn(server: string): boolean {
    const { servers } = this.#current ?? {};
    return this.#current !== undefined && (servers === undefined || servers.includes(server));
  }

  begin(by: string, { servers, caller, minutes = MAX_MINUTES }: RecordingRequest): RecordingView {
    const { clock, ring, isAllowed, note } = this.#options;
    if (!isAllowed)
      throw new ConsoleError(
        403,
        'NOT_ALLOWED',
        'Recording is forbidden here: the gateway was started with --no-record',
      );
    if (this.#current)
      throw new ConsoleError(409, 'BUSY', `${this.#current.by} records already: end that recording first`);
    // What an earlier one has kept goes now.
    ring.clear();
    const began = clock.now();
    const view: RecordingView = {
      ...{ id: this.#all.size + 1, state: 'running', by, began, until: began + minutes * 60_000 },
      ...(servers && { servers }),
      ...(caller !== undefined && { caller }),
      ...{ frames: 0, bytes: 0 },
    };
    this.#from = ring.last;
    this.#current = view;
    this.#keep(view);
    this.#callOff = clock.after(minutes * 60_000, () => this.#end('its time is over'), { background: true });
    const what = `${servers?.join(', ') ?? 'all servers'}${caller === undefined ? '' : ` for ${caller}`}`;
    note(`${by} records the messages of ${what} for ${minutes} min, without secrets`);
    return view;
  }

  end(id: number, by: string): void {
    if (!this.#all.has(id)) throw notFound(`There is no recording ${id}`);
    if (this.#current?.id !== id) throw new ConsoleError(409, 'GONE', 'This recording has ended already');
    this.#end(`${by} ended it`);
  }

  all(): readonly RecordingView[] {
    return [...this.#all.values()].map((view) =>
      view.id === this.#current?.id ? this.#counted(view) : view,
    );
  }

  close(): void {
    this.#callOff();
    this.#current = undefined;
  }

  #end(why: string): void {
    const current = this.#current;
    if (!current) return;
    this.#callOff();
    this.#current = undefined;
    this.#keep({ ...this.#counted(current), state: 'ended', until: this.#options.clock.now() });
    this.#options.note(`the recording of ${current.by} has ended: ${why}`);
  }

  #counted(view: RecordingView): RecordingView {
    const { ring } = this.#options;
    return { ...view, frames: ring.last - this.#from, bytes: ring.bytes };
  }

  #keep(view: RecordingView): void {
    this.#all.set(view.id, view);
    this.changes.tell(view);
  }
}

/** The servers that the page calls at this moment. The frames of its calls are kept on both sides of the gateway. */
export class ServersInUse {
  readonly #calls = new Map<string, Set<number>>();

  constructor(changes: Announcer<CallRow>) {
    changes.watch(({ id, own, server, state }) => {
      if (!own || server === undefined) return;
      const open = this.#calls.get(server) ?? new Set();
      if (state === 'done') open.delete(id);
      else open.add(id);
      if (open.size === 0) this.#calls.delete(server);
      else this.#calls.set(server, open);
    });
  }

  has(server: string): boolean {
    return this.#calls.has(server);
  }
}

const MAX_MINUTES = 15;
