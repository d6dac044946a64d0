import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { ServerView, StatusView } from '../contract.js';
import { Announcer } from '../stores/announcer.js';
import type { CallSeries } from './call-series.js';
import type { GatewayView, ViewedServer } from './gateway-view.js';

/** The state of the gateway, read again when something happens, and now and then while somebody looks. */
export class StatusStore {
  readonly changes = new Announcer<StatusView>();
  readonly #view: GatewayView;
  readonly #series: CallSeries;
  readonly #clock: Clock;
  #current: StatusView | undefined;
  #reading: Promise<StatusView> | undefined;
  #isDue = false;
  readonly #cpu = new Map<string, { at: number; cpuMs: number }>();

  constructor(view: GatewayView, series: CallSeries, clock: Clock) {
    this.#view = view;
    this.#series = series;
    this.#clock = clock;
  }

  get current(): StatusView | undefined {
    return this.#current;
  }

  /** Reads the state again soon. Many changes at once are one reading. */
  soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#clock.after(SOON_MS, () => {
      this.#isDue = false;
      void this.read().catch(() => {});
    });
  }

  read(): Promise<StatusView> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<StatusView> {
    const { servers, ...facts } = await this.#view.status();
    const now = this.#clock.now();
    this.#series.forget(new Set(servers.map(({ name }) => name)));
    const views = servers.map((server) => this.#viewOf(server, now));
    const { rate, errorShare } = this.#series.recent(undefined, now);
    const status: StatusView = { ...facts, servers: views, callsPerSecond: rate, errorShare };
    const isNew = JSON.stringify(status) !== JSON.stringify(this.#current);
    this.#current = status;
    if (isNew) this.changes.tell(status);
    return status;
  }

  #viewOf({ cpuMs, ...server }: ViewedServer, now: number): ServerView {
    const { rate, errorShare, p95 } = this.#series.recent(server.name, now);
    const cpu = cpuMs === undefined ? undefined : this.#shareOf(server.name, cpuMs, now);
    if (server.rssBytes !== undefined) this.#series.measure(server.name, now, server.rssBytes, cpu);
    return {
      ...server,
      ...{ callsPerSecond: rate, errorShare },
      ...(p95 !== undefined && { p95 }),
      ...(cpu !== undefined && { cpu }),
    };
  }

  /** CPU time falls when a process ends. */
  #shareOf(name: string, cpuMs: number, at: number): number | undefined {
    const before = this.#cpu.get(name);
    if (before && at - before.at < 1000) return undefined;
    this.#cpu.set(name, { at, cpuMs });
    if (!before || cpuMs < before.cpuMs) return undefined;
    return Math.round(((cpuMs - before.cpuMs) / (at - before.at)) * 1000) / 10;
  }
}

const SOON_MS = 200;
