// What the two kinds of client really say, message by message. Your users' clients do this for them.
import type { MemoryLink } from 'isthmus';

type Json = Record<string, unknown>;
export type Answer = () => Json;
export type Outcome = { messages: string[]; text?: string; error?: string };

/** Legacy: `initialize`, then the call; the server's question is a request of its own on the same connection. */
export async function legacyCall(link: MemoryLink, call: Json, answer: Answer): Promise<Outcome> {
  const messages: string[] = [];
  const client = open(link, (question) => {
    messages.push((question.params as { message: string }).message);
    client.send({ id: question.id, result: answer() });
  });
  await client.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'old-client', version: '1.0.0' },
  });
  client.send({ method: 'notifications/initialized' });
  const outcome = await client.request('tools/call', call);
  client.close();
  return { messages, ...outcomeOf(outcome) };
}

/** Modern: the question is the answer to the first call; a second call brings the user's reply. */
export async function modernCall(link: MemoryLink, call: Json, answer: Answer): Promise<Outcome> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const client = open(link, () => {});
  const first = await client.request('tools/call', { ...call, _meta });
  const { inputRequests, requestState } = first.result as {
    inputRequests: Record<string, { params: { message: string } }>;
    requestState: string;
  };
  const messages = Object.values(inputRequests).map((request) => request.params.message);
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer()]));
  const outcome = await client.request('tools/call', { ...call, _meta, inputResponses, requestState });
  client.close();
  return { messages, ...outcomeOf(outcome) };
}

function outcomeOf({ result, error }: { result?: Json; error?: { message: string } }): Partial<Outcome> {
  if (error) return { error: error.message };
  return { text: (result as { content: [{ text: string }] }).content[0].text };
}

type Message = { kind: string; id: number; params?: unknown; result?: Json; error?: { message: string } };

function open(link: MemoryLink, onQuestion: (question: Message) => void) {
  const connection = link.connect();
  const waiting = new Map<number, (answer: Message) => void>();
  let lastId = 0;
  connection.open({
    receive(received) {
      const message = received as unknown as Message;
      if (message.kind === 'request') onQuestion(message);
      else waiting.get(message.id)?.(message);
    },
    inputEnded() {},
    drained() {},
  });
  const send = (message: Json) => connection.send({ jsonrpc: '2.0', ...message } as never);
  return {
    send,
    request(method: string, params: Json): Promise<Message> {
      lastId += 1;
      const id = lastId;
      send({ id, method, params });
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    close: () => connection.close(),
  };
}
