import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Message } from '../../support/messages.js';
import {
  CAPABILITIES,
  type Era,
  emptyNear,
  type Id,
  inRounds,
  type Json,
  type Near,
  questionIn,
} from './near.js';

/** A client on a Unix socket: `unix:PATH`. */
export async function onSocket(address: string, name: string, era: Era): Promise<Near & { socket: Socket }> {
  const socket = connect({ path: address.slice('unix:'.length) });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  const near = new SocketNear(socket, name, era);
  if (era === 'legacy') await near.initialize();
  return near;
}

class SocketNear implements Near {
  readonly name: string;
  readonly era: Era;
  readonly asked: string[];
  readonly heard: string[];
  readonly strays: Message[];
  answer: Near['answer'];
  readonly socket: Socket;
  readonly #waiting = new Map<Id, { resolve(message: Message): void; reject(error: Error): void }>();
  #rest = '';

  constructor(socket: Socket, name: string, era: Era) {
    const empty = emptyNear(name, era);
    this.name = name;
    this.era = era;
    this.asked = empty.asked;
    this.heard = empty.heard;
    this.strays = empty.strays;
    this.answer = empty.answer;
    this.socket = socket;
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop()!;
      for (const line of lines) this.#hear(JSON.parse(line) as Message);
    });
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the connection was closed'));
    });
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: this.name, version: '0' };
    const params = { protocolVersion: '2025-11-25', capabilities: CAPABILITIES, clientInfo };
    const { error } = await this.#ask('init', 'initialize', params);
    if (error) throw new Error(error.message);
    this.#send({ method: 'notifications/initialized' });
  }

  request(id: Id, method: string, params: Json = {}, meta: Json = {}): Promise<Message> {
    if (this.era === 'legacy') {
      return this.#ask(id, method, { ...params, ...(Object.keys(meta).length > 0 && { _meta: meta }) });
    }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
      ...meta,
    };
    return inRounds(this, (as, full) => this.#ask(as, method, { ...full, _meta }), id, params);
  }

  async listen(uri: string): Promise<void> {
    if (this.era === 'legacy') {
      const { error } = await this.request(`listen ${uri}`, 'resources/subscribe', { uri });
      if (error) throw new Error(error.message);
      return;
    }
    const agreed = new Promise<void>((resolve) => {
      this.#onAgreed = resolve;
    });
    const asked = this.request('listen', 'subscriptions/listen', {
      notifications: { resourceSubscriptions: [uri] },
    });
    // Its answer is its end.
    asked.catch(() => {});
    await agreed;
  }
  #onAgreed: () => void = () => {};

  async leave(): Promise<void> {
    this.socket.destroy();
  }

  #ask(id: Id, method: string, params: Json): Promise<Message> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.has(id)) return reject(new Error(`two requests with the id ${id}`));
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #hear(message: Message): void {
    const { id, method, params } = message;
    if (method === undefined) {
      const waiting = this.#waiting.get(id!);
      this.#waiting.delete(id!);
      if (waiting) waiting.resolve(message);
      else this.strays.push(message);
    } else if (id !== undefined) {
      if (this.era === 'legacy' && method === 'elicitation/create')
        void this.#answer(id, questionIn(message));
      else this.strays.push(message);
    } else if (method === 'notifications/resources/updated') {
      this.heard.push(String(params?.['uri']));
    } else if (method === 'notifications/subscriptions/acknowledged') this.#onAgreed();
  }

  async #answer(id: Id, question: string): Promise<void> {
    this.asked.push(question);
    this.#send({ id, result: await this.answer(question) });
  }
}
