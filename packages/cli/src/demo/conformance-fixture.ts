import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { jsonSchema } from '@isthmus/sdk/internal/server/schema.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { PIXEL_PNG, READS, SILENCE_WAV } from './fixture-data.js';
import { addElicitationTools } from './fixture-elicitation.js';
import { addInputRoundTools } from './fixture-rounds.js';
import { addTaskTools } from './fixture-tasks.js';

/** The tools, resources and prompts that the official conformance suite needs, with its names. */
export function addConformanceFixture(server: Server): void {
  addContentTools(server);
  addReportingTools(server);
  addElicitationTools(server);
  addInputRoundTools(server);
  addTaskTools(server);
  addSchemaTools(server);
  addChangeTools(server);
  addResources(server);
  addPrompts(server);
}

const EMBEDDED = {
  type: 'resource',
  resource: {
    uri: 'test://embedded-resource',
    mimeType: 'text/plain',
    text: 'This is an embedded resource content.',
  },
} as const;
const IMAGE = { type: 'image', data: PIXEL_PNG, mimeType: 'image/png' } as const;

function addContentTools(server: Server): void {
  server.tool(
    'test_simple_text',
    { annotations: READS, description: 'Returns one text block' },
    () => 'This is a simple text response for testing.',
  );
  server.tool(
    'test_image_content',
    { annotations: READS, description: 'Returns one image block' },
    () => IMAGE,
  );
  server.tool('test_audio_content', { annotations: READS, description: 'Returns one audio block' }, () => ({
    type: 'audio' as const,
    data: SILENCE_WAV,
    mimeType: 'audio/wav',
  }));
  server.tool(
    'test_embedded_resource',
    { annotations: READS, description: 'Returns one embedded resource' },
    () => EMBEDDED,
  );
  server.tool(
    'test_multiple_content_types',
    { annotations: READS, description: 'Returns text, image and resource' },
    () => [{ type: 'text' as const, text: 'Multiple content types test:' }, IMAGE, EMBEDDED],
  );
  server.tool('test_error_handling', { annotations: READS, description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
}

function addReportingTools(server: Server): void {
  server.tool(
    'test_tool_with_progress',
    { annotations: READS, description: 'Reports progress 0, 50, 100' },
    async (_args, ctx) => {
      for (const progress of [0, 50, 100]) {
        ctx.progress(progress, 100, `Completed step ${progress} of 100`);
        await sleep(10, undefined, { signal: ctx.signal });
      }
      return 'Tool with progress executed successfully';
    },
  );
  server.tool(
    'test_tool_with_logging',
    { annotations: READS, description: 'Logs three messages' },
    async (_args, ctx) => {
      for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        ctx.log('info', text);
        await sleep(10, undefined, { signal: ctx.signal });
      }
      return 'Tool with logging executed successfully';
    },
  );
  server.tool(
    'test_logging_tool',
    { annotations: READS, description: 'Logs, if the request asked for logs' },
    (_args, ctx) => {
      ctx.log('info', 'logged by test_logging_tool');
      return 'Logged what the request asked for';
    },
  );
  server.tool(
    'test_reconnection',
    {
      annotations: READS,
      description: 'Answers late; over HTTP the stream may be closed and resumed before',
    },
    async (_args, ctx) => {
      await sleep(100, undefined, { signal: ctx.signal });
      return 'Reconnection test completed successfully';
    },
  );
  server.tool(
    'test_missing_capability',
    { annotations: READS, description: 'Needs the client capability sampling' },
    (_args, ctx) => {
      if (ctx.peer.capabilities.sampling) return 'The client declared sampling';
      if (ctx.era === 'legacy') throw new Error('The client did not declare sampling');
      throw new ProtocolError(
        ErrorCode.MissingClientCapability,
        'This tool needs the client capability sampling',
        {
          requiredCapabilities: { sampling: {} },
        },
      );
    },
  );
}

function addSchemaTools(server: Server): void {
  server.tool(
    'json_schema_2020_12_tool',
    {
      annotations: READS,
      description: 'Its input schema uses 2020-12 keywords',
      input: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: {
            $anchor: 'addressDef',
            type: 'object',
            properties: { street: { type: 'string' }, city: { type: 'string' } },
          },
        },
        properties: {
          name: { type: 'string', description: 'Who it is' },
          address: { $ref: '#/$defs/address' },
          contactMethod: { type: 'string', enum: ['phone', 'email'] },
          phone: { type: 'string', description: 'A telephone number' },
          email: { type: 'string', description: 'A mail address' },
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }, { required: ['name'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        then: { required: ['phone'] },
        else: {},
        additionalProperties: false,
      },
    },
    (args) => `JSON Schema 2020-12 tool called with: ${JSON.stringify(args)}`,
  );
  server.tool(
    'test_header_mirroring',
    {
      annotations: READS,
      description: 'Over HTTP its argument region is mirrored in the header Mcp-Param-Region',
      input: jsonSchema<{ region?: string }>({
        type: 'object',
        properties: { region: { type: 'string', description: 'Any word', 'x-mcp-header': 'Region' } },
      }),
    },
    ({ region }) => `region: ${region ?? 'none'}`,
  );
}

function addChangeTools(server: Server): void {
  server.tool('test_trigger_tool_change', { description: 'Makes the tool list change' }, () => {
    server.tool('test_passing_tool', { description: 'Here and gone' }, () => 'never').remove();
    return 'The tool list changed';
  });
  server.tool('test_trigger_prompt_change', { description: 'Makes the prompt list change' }, () => {
    server.prompt('test_passing_prompt', { description: 'Here and gone' }, () => 'never').remove();
    return 'The prompt list changed';
  });
}

function addResources(server: Server): void {
  server.resource(
    'test://static-text',
    { name: 'Static Text Resource', description: 'A static text', mimeType: 'text/plain' },
    () => 'This is the content of the static text resource.',
  );
  server.resource(
    'test://static-binary',
    { name: 'Static Binary Resource', description: 'One pixel', mimeType: 'image/png' },
    () => Buffer.from(PIXEL_PNG, 'base64'),
  );
  server.resource(
    'test://watched-resource',
    { name: 'Watched Resource', description: 'One to subscribe to', mimeType: 'text/plain' },
    () => 'Watched resource content',
  );
  server.resourceTemplate(
    'test://template/{id}/data',
    {
      name: 'Resource Template',
      description: 'Data by id',
      mimeType: 'application/json',
      complete: { id: (value) => ['123', '124', '200'].filter((id) => id.startsWith(value)) },
    },
    ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
  );
}

function addPrompts(server: Server): void {
  server.prompt(
    'test_simple_prompt',
    { description: 'A prompt without arguments' },
    () => 'This is a simple prompt for testing.',
  );
  server.prompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with two arguments',
      arguments: {
        arg1: {
          description: 'First argument',
          required: true,
          complete: (value) => ['paris', 'park', 'party'].filter((word) => word.startsWith(value)),
        },
        arg2: { description: 'Second argument', required: true },
      },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );
  server.prompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'A prompt that embeds a resource',
      arguments: { resourceUri: { description: 'URI of the resource', required: true } },
    },
    ({ resourceUri }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: {
            uri: resourceUri,
            mimeType: 'text/plain',
            text: 'Embedded resource content for testing.',
          },
        },
      },
      { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
    ],
  );
  server.prompt('test_prompt_with_image', { description: 'A prompt with an image' }, () => [
    { role: 'user', content: IMAGE },
    { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
  ]);
}
