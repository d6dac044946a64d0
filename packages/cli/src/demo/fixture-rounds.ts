import { type InputRequired, inputRequired } from '@isthmus/sdk/internal/server/content.js';
import type { Context } from '@isthmus/sdk/internal/server/context.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ElicitSchema, InputRequest, InputRequests } from '@isthmus/sdk/internal/wire/model.js';
import { READS } from './fixture-data.js';

/** Tools in replay style: they return `inputRequired` and are run again with the answers. */
export function addInputRoundTools(server: Server): void {
  server.tool(
    'test_input_required_result_elicitation',
    { annotations: READS, description: 'One question' },
    (_args, ctx) => {
      if (isDeclined(ctx.answers?.['user_name'])) return 'Hello, stranger!';
      const name = textAnswer(ctx.answers?.['user_name'], 'name');
      return name === undefined ? inputRequired({ requests: { user_name: askName } }) : `Hello, ${name}!`;
    },
  );
  server.tool(
    'test_input_required_result_sampling',
    { annotations: READS, description: 'One question to the model' },
    (_args, ctx) => {
      const text = sampledText(ctx.answers?.['capital']);
      return text === undefined
        ? inputRequired({ requests: { capital: askModel } })
        : `LLM response: ${text}`;
    },
  );
  server.tool(
    'test_input_required_result_list_roots',
    { annotations: READS, description: 'One question for roots' },
    (_args, ctx) =>
      rootUris(ctx.answers?.['client_roots']) ?? inputRequired({ requests: { client_roots: askRoots } }),
  );
  server.tool(
    'test_input_required_result_request_state',
    { annotations: READS, description: 'A question with state' },
    (_args, ctx) => {
      if (ctx.state === undefined || !isAnswered(ctx, 'confirm', askConfirmation)) {
        return inputRequired({ requests: { confirm: askConfirmation }, state: { asked: 'confirm' } });
      }
      return isJsonObject(ctx.state) && ctx.state['asked'] === 'confirm' ? 'state-ok' : 'state-lost';
    },
  );
  server.tool(
    'test_input_required_result_multiple_inputs',
    { annotations: READS, description: 'Three questions at once' },
    (_args, ctx) => {
      const requests: InputRequests = { user_name: askName, capital: askModel, client_roots: askRoots };
      const missing = Object.entries(requests).filter(([key, request]) => !isAnswered(ctx, key, request));
      return missing.length > 0
        ? inputRequired({ requests, state: { questions: 3 } })
        : answersTo(ctx, Object.keys(requests));
    },
  );
  server.tool(
    'test_input_required_result_multi_round',
    { annotations: READS, description: 'Two rounds' },
    (_args, ctx) => multiRound(ctx),
  );
  server.tool(
    'test_input_required_result_tampered_state',
    { annotations: READS, description: 'Its state must come back unchanged' },
    (_args, ctx) =>
      ctx.state === undefined || !isAnswered(ctx, 'confirm', askConfirmation)
        ? inputRequired({ requests: { confirm: askConfirmation }, state: { guarded: true } })
        : 'state-ok',
  );
  server.tool(
    'test_input_required_result_capabilities',
    { annotations: READS, description: 'Asks only what the client can answer' },
    (_args, ctx) => {
      const { elicitation, sampling, roots } = ctx.peer.capabilities;
      const requests: InputRequests = {
        ...(elicitation && { user_name: askName }),
        ...(sampling && { capital: askModel }),
        ...(roots && { client_roots: askRoots }),
      };
      const isDone =
        ctx.answers !== undefined &&
        Object.entries(requests).every(([key, request]) => isAnswered(ctx, key, request));
      return isDone
        ? answersTo(ctx, Object.keys(requests))
        : inputRequired({ requests, state: { asked: true } });
    },
  );
  server.prompt(
    'test_input_required_result_prompt',
    { description: 'Asks before it answers' },
    (_args, ctx) => {
      if (isDeclined(ctx.answers?.['user_name'])) return 'Write to no one.';
      // The conformance suite answers with another field name.
      const name = anyText(ctx.answers?.['user_name']);
      return name === undefined ? inputRequired({ requests: { user_name: askName } }) : `Write to ${name}.`;
    },
  );
}

/** The answers, one per line. */
function answersTo({ answers }: Context, keys: readonly string[]): string {
  const lines: Record<string, string> = {
    user_name: `Name: ${anyText(answers?.['user_name']) ?? 'not given'}`,
    capital: `LLM response: ${sampledText(answers?.['capital'])}`,
    client_roots: `Roots: ${rootUris(answers?.['client_roots'])}`,
  };
  return keys.length > 0 ? keys.map((key) => lines[key]).join('\n') : 'Nothing to ask';
}

function multiRound(ctx: Context): string | InputRequired {
  const round = isJsonObject(ctx.state) ? ctx.state['round'] : undefined;
  if (round === 1 && isAnswered(ctx, 'step1', askName))
    return inputRequired({ requests: { step2: askColor }, state: { round: 2 } });
  if (round === 2 && isAnswered(ctx, 'step2', askColor)) return 'Both rounds completed';
  return inputRequired({ requests: { step1: askName }, state: { round: 1 } });
}

const askName: InputRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'What is your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
};

const askConfirmation: InputRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Please confirm',
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  },
};

const askColor: InputRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'What is your favourite colour?',
    requestedSchema: { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] },
  },
};

const askModel: InputRequest = {
  method: 'sampling/createMessage',
  params: {
    messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
    maxTokens: 100,
  },
};

const askRoots: InputRequest = { method: 'roots/list' };

/** A user who declined is not asked again. */
function isDeclined(answer: unknown): boolean {
  return isJsonObject(answer) && (answer['action'] === 'decline' || answer['action'] === 'cancel');
}

/** A form that does not match its schema is not an answer (ELIC-023); declining is one. */
function isAnswered(ctx: Context, key: string, request: InputRequest): boolean {
  const answer: unknown = ctx.answers?.[key];
  if (!isJsonObject(answer)) return false;
  if (request.method === 'sampling/createMessage') return sampledText(answer) !== undefined;
  if (request.method === 'roots/list') return rootUris(answer) !== undefined;
  if (request.method !== 'elicitation/create' || answer['action'] !== 'accept') return true;
  const { requestedSchema } = request.params as { requestedSchema: ElicitSchema };
  // The conformance suite uses other names for some fields.
  const given = Object.values(isJsonObject(answer['content']) ? answer['content'] : {});
  return Object.values(requestedSchema.properties).every(({ type }) =>
    given.some((value) => typeof value === type),
  );
}

/** The first text of an accepted form. */
function anyText(answer: unknown): string | undefined {
  const content = isJsonObject(answer) && answer['action'] === 'accept' ? answer['content'] : undefined;
  const values = isJsonObject(content) ? Object.values(content) : [];
  return values.find((value) => typeof value === 'string');
}

function textAnswer(answer: unknown, field: string): string | undefined {
  if (!isJsonObject(answer) || answer['action'] !== 'accept') return undefined;
  const content = answer['content'];
  const value = isJsonObject(content) ? content[field] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The text of the model, or undefined where the answer to `sampling/createMessage` has no content. */
function sampledText(answer: unknown): string | undefined {
  const content = isJsonObject(answer) ? answer['content'] : undefined;
  const blocks = Array.isArray(content) ? content : [content];
  const texts = blocks.filter(isJsonObject).map(({ type, text }) => {
    return typeof text === 'string' ? text : `(${typeof type === 'string' ? type : 'unknown'} content)`;
  });
  return texts.length > 0 ? texts.join('\n') : undefined;
}

/** The URIs of the roots, one per line, or undefined where the answer to `roots/list` has no list. */
function rootUris(answer: unknown): string | undefined {
  const roots = isJsonObject(answer) ? answer['roots'] : undefined;
  if (!Array.isArray(roots)) return undefined;
  const uris = roots.filter(isJsonObject).map(({ uri }) => String(uri));
  return uris.length > 0 ? uris.join('\n') : 'No roots';
}
