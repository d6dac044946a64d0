import type Anthropic from '@anthropic-ai/sdk';
import { createHost, createServer, http, serve } from '@isthmus/sdk';
import {
  callAnthropicTool,
  callOpenAiChatTool,
  callOpenAiResponsesTool,
  toAiSdkOutput,
  toAiSdkTools,
  toAnthropicResult,
  toAnthropicTools,
  toOpenAiChatTools,
  toOpenAiFunctionOutput,
  toOpenAiResponsesTools,
  toOpenAiToolMessage,
} from '@isthmus/sdk/llm';
import { dynamicTool, generateText, jsonSchema, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import type OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

/** A server at a URL with a tool of each kind. */
async function serveTools(name: string) {
  const server = createServer({ name, version: '1' });
  server.tool(
    'add',
    { description: 'Adds', input: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => `${a + b}`,
  );
  server.tool('chart', {}, () => [
    { type: 'text', text: 'A chart' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ]);
  server.tool('fail', {}, () => {
    throw new Error('no disk');
  });
  const served = await serve(server, http({ port: 0 }));
  onTestFinished(() => served.close({ graceMs: 0 }));
  return served.addresses[0]!;
}

async function openTools() {
  const host = createHost({
    servers: {
      one: { url: await serveTools('one') },
      'two.dots': { url: await serveTools('two') },
      gone: { url: 'http://127.0.0.1:1/mcp' },
      off: { url: 'http://127.0.0.1:1/mcp', disabled: true },
    },
    ledger: false,
    cache: false,
  });
  onTestFinished(() => host.close());
  const tools = await host.tools();
  onTestFinished(() => tools.close());
  return tools;
}

describe('N14: host.tools()', () => {
  it('N14: has the tools of all servers, with names that LLM APIs allow', async () => {
    const tools = await openTools();
    expect(tools.list.map(({ name, server, tool }) => [name, server, tool.name])).toEqual([
      ['one__add', 'one', 'add'],
      ['one__chart', 'one', 'chart'],
      ['one__fail', 'one', 'fail'],
      ['two_dots__add_b6081563', 'two.dots', 'add'],
      ['two_dots__chart_755d6b53', 'two.dots', 'chart'],
      ['two_dots__fail_a0781ef1', 'two.dots', 'fail'],
    ]);
    expect(tools.failures.map(({ server }) => server)).toEqual(['gone']);
    expect(await tools.call('one__add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] });
    await expect(tools.call('one__ad', {})).rejects.toThrow(
      'There is no tool "one__ad"; did you mean one__add?',
    );
  });
});

describe('N14: the formats of LLM APIs', () => {
  it('N14: Anthropic', async () => {
    const tools = await openTools();
    const [add]: Anthropic.Tool[] = toAnthropicTools(tools);
    expect(add).toMatchObject({
      name: 'one__add',
      description: 'Adds',
      input_schema: { type: 'object', required: ['a', 'b'] },
    });
    const use = { id: 'u1', name: 'one__chart', input: {}, type: 'tool_use' } as Anthropic.ToolUseBlock;
    const chart: Anthropic.ToolResultBlockParam = await callAnthropicTool(tools, use);
    expect(chart).toEqual({
      type: 'tool_result',
      tool_use_id: 'u1',
      content: [
        { type: 'text', text: 'A chart' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
      ],
    });
    expect(await callAnthropicTool(tools, { ...use, name: 'one__fail' })).toMatchObject({
      content: [{ type: 'text', text: 'no disk' }],
      is_error: true,
    });
    expect(await callAnthropicTool(tools, { ...use, name: 'nothing' })).toMatchObject({
      content: [{ type: 'text', text: 'There is no tool "nothing"' }],
      is_error: true,
    });
  });

  it('N14: OpenAI, Chat Completions', async () => {
    const tools = await openTools();
    const [add]: OpenAI.ChatCompletionFunctionTool[] = toOpenAiChatTools(tools);
    expect(add).toMatchObject({ type: 'function', function: { name: 'one__add', description: 'Adds' } });
    const call = (name: string, args: string): OpenAI.ChatCompletionMessageFunctionToolCall => ({
      id: 'c1',
      type: 'function',
      function: { name, arguments: args },
    });
    const sum: OpenAI.ChatCompletionToolMessageParam = await callOpenAiChatTool(
      tools,
      call('one__add', '{"a":1,"b":2}'),
    );
    expect(sum).toEqual({ role: 'tool', tool_call_id: 'c1', content: '3' });
    expect((await callOpenAiChatTool(tools, call('one__chart', ''))).content).toBe(
      'A chart\n[image/png, 3 bytes, cannot be shown here]',
    );
    expect((await callOpenAiChatTool(tools, call('one__fail', '{}'))).content).toBe('Error: no disk');
    expect((await callOpenAiChatTool(tools, call('one__add', '{"a":'))).content).toMatch(/^Error: .*JSON/);
  });

  it('N14: OpenAI, Responses', async () => {
    const tools = await openTools();
    const [add]: OpenAI.Responses.FunctionTool[] = toOpenAiResponsesTools(tools);
    expect(add).toMatchObject({ type: 'function', name: 'one__add', strict: false });
    const call = (name: string): OpenAI.Responses.ResponseFunctionToolCall => ({
      type: 'function_call',
      call_id: 'c1',
      name,
      arguments: '{}',
    });
    const chart: OpenAI.Responses.ResponseInputItem.FunctionCallOutput = await callOpenAiResponsesTool(
      tools,
      call('one__chart'),
    );
    expect(chart.output).toEqual([
      { type: 'input_text', text: 'A chart' },
      { type: 'input_image', image_url: 'data:image/png;base64,aGk=' },
    ]);
    expect((await callOpenAiResponsesTool(tools, call('one__fail'))).output).toBe('Error: no disk');
  });

  it('N14: the AI SDK calls the tools by itself', async () => {
    const tools = await openTools();
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
    const input = JSON.stringify({ a: 20, b: 22 });
    const toolCall = { type: 'tool-call', toolCallId: 't1', toolName: 'one__add', input } as const;
    const rest = { usage, warnings: [] };
    const model = new MockLanguageModelV3({
      doGenerate: [
        { content: [toolCall], finishReason: { unified: 'tool-calls', raw: undefined }, ...rest },
        {
          content: [{ type: 'text', text: 'done' }],
          finishReason: { unified: 'stop', raw: undefined },
          ...rest,
        },
      ],
    });
    const { text } = await generateText({
      model,
      tools: toAiSdkTools(tools, { jsonSchema, dynamicTool }),
      prompt: 'Add 20 and 22',
      stopWhen: stepCountIs(2),
    });
    expect(text).toBe('done');
    const [first, second] = model.doGenerateCalls;
    expect(first?.tools?.[0]).toMatchObject({ type: 'function', name: 'one__add', description: 'Adds' });
    expect(second?.prompt.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ toolName: 'one__add', output: { type: 'text', value: '42' } }],
    });
  });
});

describe('N14: results of other kinds', () => {
  const blob = { content: [{ type: 'audio' as const, data: 'aGk=', mimeType: 'audio/wav' }] };
  const data = { content: [], structuredContent: { n: 1 } };
  const link = { content: [{ type: 'resource_link' as const, uri: 'x:a', name: 'a' }] };
  const file = { content: [{ type: 'resource' as const, resource: { uri: 'x:a', text: 'inside' } }] };

  it('N14: structured content, links and resources become text; other media is described', () => {
    expect([data, link, file, blob].map((each) => toOpenAiToolMessage('c', each).content)).toEqual([
      '{"n":1}',
      'a: x:a',
      'inside',
      '[audio/wav, 3 bytes, cannot be shown here]',
    ]);
    expect(toAnthropicResult('u', blob).content).toEqual([
      { type: 'text', text: '[audio/wav, 3 bytes, cannot be shown here]' },
    ]);
    expect(toAnthropicResult('u', { content: [{ type: 'text', text: '' }] })).toEqual({
      type: 'tool_result',
      tool_use_id: 'u',
    });
    expect(toOpenAiFunctionOutput('c', blob).output).toBe('[audio/wav, 3 bytes, cannot be shown here]');
    expect(toAiSdkOutput(blob)).toEqual({
      type: 'content',
      value: [{ type: 'file-data', data: 'aGk=', mediaType: 'audio/wav' }],
    });
    expect(toAiSdkOutput({ ...data, isError: true })).toEqual({ type: 'error-text', value: '{"n":1}' });
  });
});
